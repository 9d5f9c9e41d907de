//! Quotas hold across servers on one database, whatever its latency.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use reqwest::StatusCode;
use shared::auth::ApiKey;

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    keys::{counted_requests, key_with_quotas},
    processes::until,
    service::{Service, http_client},
};

const LIMIT: u32 = 60;
/// The quota, plus a tenth for each server but one, as `docs/OPERATIONS.md` promises.
const MOST: usize = 60 + 3 * 6;
/// The database's latency for each server, in milliseconds.
const DELAYS: [[u64; 4]; 3] = [[0, 0, 0, 0], [20, 20, 20, 20], [0, 50, 200, 400]];

/// Servers on one database, with these latencies for usage calls.
async fn servers(service: &Service, delays: [u64; 4]) -> Vec<Service> {
    let servers = delays.map(async |delay| {
        let policy = move |_, operation: &str| match operation {
            "UpdateItem" | "BatchGetItem" if delay > 0 => Fault::Late(Duration::from_millis(delay)),
            _ => Fault::None,
        };
        let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
        let server = Service::behind(&proxy).await;
        // Loads the data.
        assert_eq!(server.get("/v1/npa/415?limit=1").await.status(), StatusCode::OK);
        server
    });
    join_all(servers).await
}

/// Sends concurrent requests with this many numbers each; returns how many succeeded.
async fn answered(server: &Service, key: &ApiKey, requests: usize, numbers: usize) -> usize {
    let url = format!("{}/v1/format", server.base_url);
    let client = http_client();
    let answers = (0..requests).map(|_| {
        let request = match numbers {
            1 => client.get(format!("{url}?tn=%2B442079460958")),
            _ => client
                .post(&url)
                .header("content-type", "text/plain")
                .body("+442079460958\n".repeat(numbers)),
        };
        let request = request.bearer_auth(key.reveal());
        async move {
            match request.send().await.unwrap().status() {
                StatusCode::OK => numbers,
                StatusCode::TOO_MANY_REQUESTS => 0,
                other => panic!("{other}"),
            }
        }
    });
    join_all(answers).await.into_iter().sum()
}

/// Asserts that the table counts answered requests and no refused claims.
async fn assert_counted(service: &Service, key: &ApiKey, answered: usize) {
    let store = service.database.store();
    let counted = async || counted_requests(&store).await.get(&key.hash()).copied();
    until(async || counted().await == Some(answered as u64)).await;
}

#[tokio::test]
async fn single_requests_to_four_servers_stay_within_the_bound_that_is_promised() {
    let service = Service::with_sample().await;
    for delays in DELAYS {
        let key = key_with_quotas(&service.database.store(), Some(LIMIT), None).await;
        let (servers, key) = (servers(&service, delays).await, Arc::new(key));
        let asked = servers.iter().map(async |server| {
            let mut sum = 0;
            for _ in 0..8 {
                sum += answered(server, &key, 5, 1).await;
            }
            sum
        });
        let answered: usize = join_all(asked).await.into_iter().sum();
        assert!((LIMIT as usize..=MOST).contains(&answered), "{answered} with {delays:?}");
        assert_counted(&service, &key, answered).await;
    }
}

#[tokio::test]
async fn requests_for_many_numbers_to_four_servers_never_exceed_the_quota() {
    let service = Service::with_sample().await;
    for delays in DELAYS {
        let key = key_with_quotas(&service.database.store(), Some(LIMIT), None).await;
        let servers = servers(&service, delays).await;
        let asked = servers.iter().map(|server| answered(server, &key, 8, 10));
        let answered: usize = join_all(asked).await.into_iter().sum();
        assert_eq!(answered, LIMIT as usize, "{delays:?}");
        assert_counted(&service, &key, answered).await;
    }
}
