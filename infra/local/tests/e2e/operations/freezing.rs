//! Requests are counted exactly even if the process is frozen after each response and resumed later, as
//! Lambda does with idle containers.
//!
//! `TNR_FREEZE_MS` sets how long most freezes last; 2000 is close to Lambda's.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use reqwest::{Client, StatusCode};
use shared::auth::ApiKey;
use tempfile::TempDir;

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    keys::{counted_requests, key_with_quotas},
    processes::{send_signal, until_ended},
    program::{Serving, program_on},
    service::{KEY, Service, http_client},
};

const PROCESSES: usize = 5;
const REQUESTS_EACH: usize = 20;
const REQUESTS: usize = PROCESSES * REQUESTS_EACH;
/// One freeze in this many lasts longer than a write may take.
const LONG_FREEZE_EVERY: usize = 10;
const LONG_FREEZE: Duration = Duration::from_millis(1800);
const DEFAULT_FREEZE_MS: u64 = 120;

/// The length of the short freezes.
fn most_freezes() -> Duration {
    let set = env::var("TNR_FREEZE_MS").ok();
    let milliseconds = set.map(|text| text.parse().expect("TNR_FREEZE_MS must be a number"));
    Duration::from_millis(milliseconds.unwrap_or(DEFAULT_FREEZE_MS))
}

/// Starts the program, in its own folder, on the database at an address.
async fn serve(endpoint: &str, data_dir: &TempDir) -> Serving {
    let arguments = ["--port", "0", "--key", KEY, "--endpoint-url", endpoint];
    Serving::start(program_on(data_dir, &arguments).env("RUST_LOG", "debug")).await
}

/// Makes a request and freezes the process right after the response.
async fn ask_and_freeze(serving: &Serving, client: &Client, key: &ApiKey) -> StatusCode {
    let request = client.get(format!("{}/v1/npa/415?limit=1", serving.base_url));
    let response = request.bearer_auth(key.reveal()).send().await.unwrap();
    send_signal("STOP", &serving.process);
    response.status()
}

/// Uses up the quota of a key, asserts that each request is counted once, and returns the log of the
/// processes.
async fn assert_each_request_counts_once(slowness: Duration) -> String {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let quota = Some(REQUESTS as u32);
    let key = key_with_quotas(&store, quota, quota).await;
    // The processes load the data first, which would take too long from slow tables.
    let is_loaded = Arc::new(AtomicBool::new(false));
    let is_slow = Arc::clone(&is_loaded);
    let policy = move |_, operation: &str| {
        if !is_slow.load(Ordering::SeqCst) {
            return Fault::None;
        }
        let counts = ["UpdateItem", "BatchGetItem"].contains(&operation);
        Fault::Late(if counts { slowness } else { slowness.min(Duration::from_millis(30)) })
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let folders: Vec<TempDir> = (0..PROCESSES).map(|_| TempDir::new().unwrap()).collect();
    let starting = folders.iter().map(|folder| serve(&proxy.endpoint, folder));
    let mut processes = join_all(starting).await;

    let client = http_client();
    for Serving { base_url, .. } in &processes {
        let loading = client.get(format!("{base_url}/v1/npa/415")).bearer_auth(KEY).send();
        assert_eq!(loading.await.unwrap().status(), StatusCode::OK);
    }
    is_loaded.store(true, Ordering::SeqCst);

    let asked = processes.iter().map(|serving| {
        let (client, key) = (&client, &key);
        async move {
            for request in 1..=REQUESTS_EACH {
                let status = ask_and_freeze(serving, client, key).await;
                assert_eq!(status, StatusCode::OK, "request {request}");
                let is_long = request % LONG_FREEZE_EVERY == 0;
                let most = most_freezes();
                tokio::time::sleep(if is_long { LONG_FREEZE.max(most) } else { most }).await;
                send_signal("CONT", &serving.process);
            }
        }
    });
    join_all(asked).await;

    let mut output = String::new();
    for serving in &mut processes {
        send_signal("INT", &serving.process);
        until_ended(&mut serving.process).await;
        output.push_str(&serving.output());
    }
    assert!(!output.contains("ERROR") && !output.contains("panic"), "{output}");
    assert_eq!(counted_requests(&store).await[&key.hash()], REQUESTS as u64);
    output
}

#[tokio::test]
async fn frozen_processes_count_each_request_once_on_a_fast_table() {
    assert_each_request_counts_once(Duration::from_millis(30)).await;
}

#[tokio::test]
async fn frozen_processes_count_each_request_once_on_a_slow_table() {
    let output = assert_each_request_counts_once(Duration::from_millis(800)).await;
    assert!(output.contains("usage is written with the next write"), "no write was cut off");
}
