//! Tests each endpoint while a table or the whole database fails, and after recovery. The list of endpoints, and of
//! those that take `as_of`, comes from the description.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, future::join_all, stream};
use reqwest::StatusCode;
use serde_json::{Value, json};
use shared::auth::{ApiKey, KeyKind};
use store::{CurrentDataset, Store, TimeoutProfile};
use tnr::{
    keys,
    openapi::{self, sample_requests::SampleRequest},
};

use crate::support::{
    databases,
    endpoints::{Endpoint, endpoints},
    fault_proxy::{Fault, FaultProxy},
    keys::key_with_quotas,
    processes::wait_until,
    service::Service,
    template::route_for,
};

/// Failing tables (`None` for all), each with a few faults, since all faults take the same path in the client.
const FAILURES: [(Option<&str>, &[Fault]); 7] = [
    (Some("carriers"), &[Fault::INTERNAL_ERROR]),
    (Some("exchanges"), &[Fault::CloseWithoutResponse, LATE]),
    (Some("dataset"), &[Fault::NON_RETRYABLE, LATE]),
    (Some("history"), &[Fault::CutOff, LATE]),
    (Some("api_keys"), &[Fault::THROTTLED, LATE]),
    (Some("usage"), &[Fault::NON_RETRYABLE, LATE]),
    (None, &[Fault::THROTTLED, Fault::Stall, Fault::CutOff]),
];
const LATE: Fault = Fault::Late(Duration::from_secs(2));
const CONCURRENT_REQUESTS: usize = 2;
/// The time limit for a response.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// On an idle machine, responses recover within five seconds. Unit tests in `store` check the pauses.
const MAX_RECOVERY: Duration = Duration::from_secs(60);

type Response = (StatusCode, String);

/// Requests and keys, and the intact database's responses.
struct Expected {
    requests: Vec<SampleRequest>,
    responses: Vec<Response>,
    /// A key that is in memory when a table fails, one that is not, and keys that must never be admitted.
    known: ApiKey,
    new: ApiKey,
    bad: [ApiKey; 2],
}

/// For each operation: one request that reads data, one for past data if it takes `as_of`, and one that reads nothing.
/// They have no key.
async fn requests(store: &Store) -> Vec<SampleRequest> {
    let manifest = store.manifest().await.unwrap().unwrap();
    let history = store.history(&manifest, jiff::Timestamp::now()).await.unwrap();
    let start = history.start().at;
    let description = openapi::description();
    let mut requests: Vec<SampleRequest> = Vec::new();
    let is_sent = |it: &Endpoint| it.function != "site" || it.path == "/openapi.json";
    for endpoint in endpoints().into_iter().filter(is_sent) {
        let operations = &description["paths"][endpoint.path.replace("+}", "}")];
        for method in ["GET", "POST"] {
            let mut samples = endpoint.requests().into_iter();
            let is_example = |it: &SampleRequest| it.method == method && !it.is_rejected();
            let Some(mut sample) = samples.find(is_example) else { continue };
            sample.target = sample.target.split("&apiKey=").next().unwrap().to_owned();
            let parameters = &operations[method.to_lowercase()]["parameters"];
            let mut parameters = parameters.as_array().into_iter().flatten();
            if parameters.any(|parameter| parameter["$ref"] == "#/components/parameters/as_of") {
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

fn needs_key(request: &SampleRequest, endpoints: &[Endpoint]) -> bool {
    let (route, _) = route_for(request.path());
    endpoints.iter().any(|endpoint| endpoint.path == route && endpoint.needs_key())
}

async fn response(service: &Service, request: &SampleRequest, key: &ApiKey) -> Response {
    let started = Instant::now();
    let sent = service.request_like(request, &request.target).bearer_auth(key.reveal());
    let response = sent.send().await.unwrap();
    let response = (response.status(), response.text().await.unwrap());
    assert!(started.elapsed() < MAX_WAIT, "{}: {:?}", request.target, started.elapsed());
    response
}

/// The responses, fetched several at a time.
async fn responses<'r>(
    service: &Service,
    requests: impl IntoIterator<Item = &'r SampleRequest>,
    key: &ApiKey,
) -> Vec<Response> {
    let responses = requests.into_iter().map(|request| response(service, request, key));
    stream::iter(responses.collect::<Vec<_>>()).buffered(CONCURRENT_REQUESTS).collect().await
}

/// Asserts the health and the matching status, and returns the health.
async fn assert_health(service: &Service, expected: &str) -> Value {
    let (status, health) = service.get_json("/health").await;
    let expected_status = if expected == "unhealthy" { 503 } else { 200 };
    assert_eq!((status.as_u16(), &health["status"]), (expected_status, &expected.into()));
    health
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_are_correct_while_a_table_fails_and_after_it_recovers() {
    let database = databases::with_history().await;
    let store = database.store();
    let requests = requests(&store).await;
    let past = requests.iter().filter(|request| is_past(request)).count();
    assert!(requests.len() > 30 && past > 10, "{} and {past} requests", requests.len());
    let healthy = Service::on(database).await;
    let known = key_with_quotas(&store, None, Some(1_000_000)).await;
    let new = key_with_quotas(&store, None, Some(1_000_000)).await;
    let bad = [(); 2].map(|()| keys::random(KeyKind::Live).unwrap());
    keys::register(&store, &bad[0], "revoked").await.unwrap();
    keys::revoke(&store, bad[0].prefix()).await.unwrap();
    let responses = responses(&healthy, &requests, &known).await;
    for ((status, body), request) in responses.iter().zip(&requests) {
        assert!(status.is_success(), "{}: {status} {body}", request.target);
    }
    let expected = Expected { requests, responses, known, new, bad };
    let endpoint = healthy.database.endpoint();
    for (table, faults) in FAILURES {
        join_all(faults.iter().map(|fault| fail(endpoint, table, *fault, &expected))).await;
    }
    fail_without_data(endpoint, &expected).await;
}

/// Makes a table fail once all current data and the first key are in memory, sends every request, and lets it recover.
async fn fail(
    endpoint: &str,
    table: Option<&'static str>,
    fault: Fault,
    Expected { requests, responses: expected, known, new, bad }: &Expected,
) {
    let proxy = FaultProxy::with_switch(endpoint, table, fault).await;
    let service = Service::behind(&proxy).await;
    let loaded = SampleRequest::get("/v1/carriers");
    for loaded in [&loaded, &SampleRequest::get("/v1/countries/GB/ranges")] {
        wait_until(async || response(&service, loaded, known).await.0.is_success()).await;
    }
    let key = if table == Some("api_keys") { new } else { known };
    let endpoints = endpoints();

    proxy.start_failing();
    let found = responses(&service, requests, key).await;
    for ((found, expected), request) in found.iter().zip(expected).zip(requests) {
        let context = format!("{table:?} {fault:?} {}: {found:?}", request.target);
        let failing = match table {
            None | Some("history") if is_past(request) => "history",
            Some("api_keys") if needs_key(request, &endpoints) => "API key",
            // Health shows that the database fails.
            None | Some("dataset" | "history" | "api_keys")
                if request.path().ends_with("/health") =>
            {
                continue;
            }
            _ => {
                assert_eq!(found, expected, "{context}");
                continue;
            }
        };
        assert_eq!(found.0, StatusCode::SERVICE_UNAVAILABLE, "{context}");
        assert!(found.1.contains(failing), "{context}");
    }
    if table.is_none() {
        for key in bad {
            let refused = response(&service, &loaded, key).await;
            assert_eq!(refused.0, StatusCode::SERVICE_UNAVAILABLE, "{fault:?}: {refused:?}");
        }
        assert_eq!(assert_health(&service, "degraded").await["database"], "error");
        assert_few_calls(&service, &proxy, known).await;
    }

    proxy.stop_failing();
    let recovered = Instant::now();
    let mut left: Vec<_> = requests.iter().zip(expected).collect();
    while !left.is_empty() {
        let found = responses(&service, left.iter().map(|(request, _)| *request), key).await;
        let mut found = found.into_iter();
        left.retain(|(_, expected)| found.next().as_ref() != Some(expected));
        let targets: Vec<_> = left.iter().map(|(request, _)| &request.target).collect();
        assert!(recovered.elapsed() < MAX_RECOVERY, "{table:?} {fault:?}: {targets:?}");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    for key in bad {
        wait_until(async || {
            let (status, _) = response(&service, &loaded, key).await;
            assert!(!status.is_success(), "{table:?} {fault:?}");
            status == StatusCode::UNAUTHORIZED
        })
        .await;
    }
}

/// Asserts that many lookups, which normally read DynamoDB each time, cause few calls while it fails.
async fn assert_few_calls(service: &Service, proxy: &FaultProxy, key: &ApiKey) {
    const LOOKUPS: usize = 200;
    const CLIENTS: usize = 20;
    /// The number of attempts that the SDK makes per call.
    const ATTEMPTS: usize = 3;
    /// The pause after which a failed table is called again, in seconds.
    const PAUSE: u64 = 3;
    proxy.reset_call_count();
    let started = Instant::now();
    let lookup = SampleRequest::get("/v1/carrier/908K");
    let lookups = stream::iter(0..LOOKUPS).map(async |_| response(service, &lookup, key).await);
    let found: Vec<Response> = lookups.buffer_unordered(CLIENTS).collect().await;
    assert!(found.iter().all(|(status, _)| *status == StatusCode::OK), "{found:?}");
    let pauses = started.elapsed().as_secs() / PAUSE;
    let max_calls = ATTEMPTS * (CLIENTS + pauses as usize);
    assert!(proxy.calls() <= max_calls, "{} calls", proxy.calls());
}

/// Asserts that a container without data admits nobody, responds with 503 except for numbers abroad, and recovers.
async fn fail_without_data(endpoint: &str, Expected { requests, known, bad, .. }: &Expected) {
    let proxy = FaultProxy::with_switch(endpoint, None, Fault::CloseWithoutResponse).await;
    let service = Service::behind(&proxy).await;
    proxy.start_failing();
    let endpoints = endpoints();
    let requests = requests.iter().filter(|request| needs_key(request, &endpoints));
    for key in [known, &bad[0], &bad[1]] {
        for (status, body) in responses(&service, requests.clone(), key).await {
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
            assert!(!body.contains("table") && !body.contains("DynamoDB"), "{body}");
        }
    }
    let health = assert_health(&service, "unhealthy").await;
    assert_eq!((&health["database"], &health["last_ingestion"]), (&"error".into(), &json!(null)));
    for target in ["/v1/npa/415/nxx/234", "/stats"] {
        let response = service.get(target).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{target}");
        assert_eq!(response.headers()["retry-after"], "5", "{target}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "service_unavailable", "{target}");
    }
    proxy.stop_failing();
    let foreign = SampleRequest::get("/v1/format/+442079460958");
    wait_until(async || {
        response(&service, &foreign, known).await.0.is_success()
            && service.get("/v1/npa/415/nxx/234").await.status() == StatusCode::OK
            && service.get_json("/health").await.1["status"] == "healthy"
    })
    .await;
    assert_health(&service, "healthy").await;
    let dataset = FaultProxy::with_switch(endpoint, Some("dataset"), Fault::NON_RETRYABLE).await;
    let service = Service::behind(&dataset).await;
    dataset.start_failing();
    // It needs no data.
    wait_until(async || response(&service, &foreign, known).await.0.is_success()).await;
    let list = SampleRequest::get("/v1/carriers");
    assert_eq!(response(&service, &list, known).await.0, StatusCode::SERVICE_UNAVAILABLE);
}

/// The wait is as long as the embedded database may take.
#[tokio::test]
async fn server_waits_for_a_slow_embedded_database_and_unprocessed_chunks() {
    let sample = Service::with_sample().await;
    let endpoint = sample.database.endpoint();
    let stored = sample.database.store().manifest().await.unwrap().unwrap();
    for (fault, calls, is_loaded) in [
        (Fault::Late(Duration::from_millis(2500)), usize::MAX, true),
        (Fault::Unprocessed, 3, true),
        (Fault::Unprocessed, usize::MAX, false),
    ] {
        let proxy = FaultProxy::for_first_calls(endpoint, calls, "BatchGetItem", fault).await;
        let store = Store::connect_to_emulator(&proxy.endpoint, TimeoutProfile::EmbeddedRequest);
        let started = Instant::now();
        let loaded = CurrentDataset::new(store).get().await;
        assert!(started.elapsed() < 2 * MAX_WAIT, "{fault:?}: {:?}", started.elapsed());
        let version = loaded.ok().map(|loaded| loaded.version);
        assert_eq!(version, is_loaded.then(|| stored.current.version.clone()), "{fault:?}");
    }
}
