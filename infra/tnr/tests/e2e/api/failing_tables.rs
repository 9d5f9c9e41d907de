//! Each endpoint while a table fails, and after it has recovered. The endpoints, and the ones that take `as_of`, come
//! from the description.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, future::join_all, stream};
use reqwest::StatusCode;
use shared::auth::ApiKey;
use store::Store;
use tnr::openapi::{self, sample_requests::SampleRequest};

use crate::support::{
    databases,
    endpoints::{Endpoint, endpoints},
    fault_proxy::{Fault, FaultProxy},
    keys::key_with_quotas,
    service::Service,
};

const TABLES: [&str; 6] = ["carriers", "exchanges", "dataset", "history", "api_keys", "usage"];
const FAULTS: [Fault; 6] = [
    Fault::InternalError,
    Fault::NonRetryable,
    Fault::Throttled,
    Fault::Reset,
    Fault::CutOff,
    Fault::Late(Duration::from_secs(2)),
];
/// More would time out on a busy machine.
const CONCURRENT_FAULTS: usize = 3;
const CONCURRENT_REQUESTS: usize = 2;
/// Responses are right again within five seconds on an idle machine; unit tests of `store` check the pauses.
const MAX_RECOVERY: Duration = Duration::from_secs(60);

/// One request per operation, and one for the past if it takes `as_of`. None has a key.
async fn requests(store: &Store) -> Vec<SampleRequest> {
    let manifest = store.manifest().await.unwrap().unwrap();
    let history = store.history(&manifest, jiff::Timestamp::now()).await.unwrap();
    let start = history.start().at;
    let description = openapi::description();
    let mut requests: Vec<SampleRequest> = Vec::new();
    for endpoint in endpoints() {
        let operations = &description["paths"][endpoint.path.replace("+}", "}")];
        for method in ["GET", "POST"] {
            let mut samples = endpoint.requests().into_iter();
            let is_example = |it: &SampleRequest| it.method == method && !it.is_rejected();
            let Some(mut sample) = samples.find(is_example) else { continue };
            sample.target = sample.target.split("&apiKey=").next().unwrap().to_owned();
            let parameters = &operations[method.to_lowercase()]["parameters"];
            let mut parameters = parameters.as_array().into_iter().flatten();
            if parameters.any(|parameter| parameter["name"] == "as_of") {
                let separator = if sample.target.contains('?') { '&' } else { '?' };
                let target = format!("{}{separator}as_of={start}", sample.target);
                requests.push(SampleRequest { target, ..sample.clone() });
            }
            requests.push(sample);
        }
    }
    requests
}

fn is_past(request: &SampleRequest) -> bool {
    ["as_of=", "/history", "/changes"].iter().any(|part| request.target.contains(part))
}

fn is_health(request: &SampleRequest) -> bool {
    request.path().ends_with("/health")
}

fn needs_key(request: &SampleRequest, endpoints: &[Endpoint]) -> bool {
    let (route, _) = crate::support::template::route_for(request.path());
    endpoints.iter().any(|endpoint| endpoint.path == route && endpoint.needs_key())
}

/// The status and body of each response, several requested at once.
async fn responses<'r>(
    service: &Service,
    requests: impl IntoIterator<Item = &'r SampleRequest>,
    key: &ApiKey,
) -> Vec<(StatusCode, String)> {
    let responses = requests.into_iter().map(async |sample| {
        let request = service.request_like(sample, &sample.target).bearer_auth(key.reveal());
        let response = request.send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    });
    stream::iter(responses.collect::<Vec<_>>()).buffered(CONCURRENT_REQUESTS).collect().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_response_is_right_while_a_table_fails_and_again_after_it_recovers() {
    let database = databases::with_history().await;
    let store = database.store();
    let requests = &requests(&store).await;
    let past = requests.iter().filter(|request| is_past(request)).count();
    assert!(requests.len() > 35 && past > 10, "{} and {past} requests", requests.len());
    let healthy = Service::on(database).await;
    let keys = [
        key_with_quotas(&store, None, Some(1_000_000)).await,
        key_with_quotas(&store, None, Some(1_000_000)).await,
    ];
    let expected = &responses(&healthy, requests, &keys[0]).await;
    for ((status, body), request) in expected.iter().zip(requests) {
        assert!(status.is_success(), "{}: {status} {body}", request.target);
    }
    let endpoint = healthy.database.endpoint();
    for table in TABLES {
        for faults in FAULTS.chunks(CONCURRENT_FAULTS) {
            let fail = |fault: &Fault| fail(endpoint, table, *fault, requests, expected, &keys);
            join_all(faults.iter().map(fail)).await;
        }
    }
}

/// Lets a table fail once all current data and the first key are in memory, sends every request, and lets it recover.
async fn fail(
    endpoint: &str,
    table: &'static str,
    fault: Fault,
    requests: &[SampleRequest],
    expected: &[(StatusCode, String)],
    [known, new]: &[ApiKey; 2],
) {
    let proxy = FaultProxy::with_switch(endpoint, Some(table), fault).await;
    let service = Service::behind(&proxy).await;
    let loaded = service.request("/v1/carriers").bearer_auth(known.reveal()).send().await.unwrap();
    assert!(loaded.status().is_success());
    let key = if table == "api_keys" { new } else { known };
    let endpoints = endpoints();

    proxy.start_failing();
    let found = responses(&service, requests, key).await;
    for ((found, expected), request) in found.iter().zip(expected).zip(requests) {
        let context = format!("{table} {fault:?} {}: {found:?}", request.target);
        let failing = match table {
            "history" if is_past(request) => "history",
            "api_keys" if needs_key(request, &endpoints) => "API key",
            // It shows that the database fails.
            "dataset" | "history" | "api_keys" if is_health(request) => continue,
            _ => {
                assert_eq!(found, expected, "{context}");
                continue;
            }
        };
        assert_eq!(found.0, StatusCode::SERVICE_UNAVAILABLE, "{context}");
        assert!(found.1.contains(failing), "{context}");
    }

    proxy.stop_failing();
    let recovered = Instant::now();
    let mut left: Vec<_> = requests.iter().zip(expected).collect();
    while !left.is_empty() {
        let found = responses(&service, left.iter().map(|(request, _)| *request), key).await;
        let mut found = found.into_iter();
        left.retain(|(_, expected)| found.next().as_ref() != Some(expected));
        let targets: Vec<_> = left.iter().map(|(request, _)| &request.target).collect();
        assert!(recovered.elapsed() < MAX_RECOVERY, "{table} {fault:?}: {targets:?}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}
