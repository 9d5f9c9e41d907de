//! A function as Lambda runs it: frozen when idle, thawed for the next invocation, and notified before it shuts down.

use std::{
    env, fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use flate2::read::GzDecoder;
use lambda_http::aws_lambda_events::encodings::Base64Data;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::support::{
    api_events::http_api_event,
    fault_proxy::{Fault, FaultProxy, for_operation},
    function_calls::with_iam_authorization,
    keys::{counted_requests, key_with_quotas},
    lambda_runtime::LambdaFunction,
    processes::lambda_process,
    sample_requests::SampleRequest,
    service::Service,
};

/// The process that the tests start: a function as deployed.
#[test]
#[ignore = "other tests start it as a separate process"]
fn function_process() {
    if env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        shared::app::start(npa::routes).unwrap();
    }
}

/// A command that starts the function with the database at `endpoint`.
fn function(endpoint: &str, output: &Path) -> Command {
    let mut command = lambda_process(concat!(module_path!(), "::function_process"), output);
    command.env("AWS_ENDPOINT_URL_DYNAMODB", endpoint).env("RUST_LOG", "info");
    command
}

/// A function on the service's database, and its log.
async fn start(service: &Service) -> (LambdaFunction, NamedTempFile) {
    let log = NamedTempFile::new().unwrap();
    let command = function(service.database.endpoint(), log.path());
    (LambdaFunction::start(command).await, log)
}

fn event(key: &str) -> Value {
    let mut event = http_api_event(&SampleRequest::get("/v1/npa/415?limit=3"));
    event["headers"]["authorization"] = json!(format!("Bearer {key}"));
    event
}

/// The outcome of a run.
struct Outcome {
    counted: u64,
    slowest_response: Duration,
    output: String,
}

/// Sends a function this many requests with a key that has quotas, and freezes it after each.
async fn run(requests: u32, delay: Duration, freeze: Duration) -> Outcome {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, Some(requests), Some(requests)).await;
    let policy = for_operation("UpdateItem", Fault::Late(delay));
    let proxy = FaultProxy::new(service.database.endpoint(), policy).await;
    let log = NamedTempFile::new().unwrap();
    let mut function = LambdaFunction::start(function(&proxy.endpoint, log.path())).await;
    let mut slowest_response = Duration::ZERO;
    for request in 0..requests {
        let (response, time) = function.timed_response(&event(key.reveal())).await;
        if request > 0 {
            slowest_response = slowest_response.max(time);
        }
        assert_eq!(response["statusCode"], 200, "request {request}: {response}");
        function.freeze().await;
        tokio::time::sleep(freeze).await;
    }
    function.shut_down().await;
    Outcome {
        counted: counted_requests(&store).await.get(&key.hash()).copied().unwrap_or_default(),
        slowest_response,
        output: fs::read_to_string(log.path()).unwrap(),
    }
}

#[tokio::test]
async fn frozen_functions_count_each_request_once_and_reject_none() {
    let (brief, long) = (Duration::from_millis(20), Duration::from_millis(600));
    let quick = run(60, Duration::from_millis(30), brief);
    let slow = run(20, Duration::from_millis(800), long);
    let (quick, slow) = futures_util::future::join(quick, slow).await;
    assert_eq!((quick.counted, slow.counted), (60, 20));
    for outcome in [&quick, &slow] {
        assert!(!outcome.output.contains("ERROR"), "{}", outcome.output);
    }
    // Near the limit, a request may wait for a write.
    assert!(slow.slowest_response < Duration::from_millis(1600), "{:?}", slow.slowest_response);
}

/// The handler never sees such an event, so the extension must not wait for it until the timeout.
#[tokio::test]
async fn non_request_events_do_not_block_the_extension() {
    let service = Service::with_sample().await;
    let (mut function, _log) = start(&service).await;
    let started = Instant::now();
    function.invoke(&json!({ "no": "request" })).await;
    function.freeze().await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    function.shut_down().await;
}

/// API Gateway accepts text, or bytes in base64, and one value per header.
#[tokio::test]
async fn compressed_bodies_are_base64_and_headers_are_not_repeated() {
    let service = Service::with_sample().await;
    let (mut function, log) = start(&service).await;
    let target = "/v1/npa/415?limit=100";
    let mut event = http_api_event(&SampleRequest::get(target));
    event["headers"]["accept-encoding"] = json!("gzip");
    event["headers"]["origin"] = json!("https://page.example");
    let response = function.invoke(&event).await;
    event["headers"]["if-none-match"] = response["headers"]["etag"].clone();
    let not_modified = function.invoke(&event).await;
    let by_iam = with_iam_authorization(http_api_event(&SampleRequest::get(target)));
    assert_eq!(function.invoke(&by_iam).await["statusCode"], 200);
    function.shut_down().await;
    let log = fs::read_to_string(log.path()).unwrap();
    assert_eq!(log.matches("\"key\":\"iam\"").count(), 1, "{log}");

    assert_eq!(
        (&response["statusCode"], &response["isBase64Encoded"]),
        (&json!(200), &json!(true))
    );
    let headers = &response["headers"];
    assert_eq!(headers["content-encoding"], "gzip");
    assert_eq!(headers["vary"], "Accept, Accept-Encoding, Accept-Language");
    assert_eq!(headers["access-control-allow-origin"], "*");
    let body: Base64Data = serde_json::from_value(response["body"].clone()).unwrap();
    let plain: Value = serde_json::from_reader(GzDecoder::new(&body.0[..])).unwrap();
    assert_eq!(plain, service.ok(target).await);

    assert_eq!(not_modified["statusCode"], 304);
    assert_eq!(not_modified["headers"]["etag"], headers["etag"]);
    assert!(not_modified["body"].as_str().is_none_or(str::is_empty), "{not_modified}");
    assert_eq!(not_modified["headers"]["content-length"], Value::Null);
}
