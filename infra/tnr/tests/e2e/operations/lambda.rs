//! Runs functions as Lambda does: frozen when idle, thawed for the next invocation, and notified before shutdown.

use std::{
    env, fs,
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{Json, Router, extract::State, http::Uri};
use flate2::read::GzDecoder;
use lambda_http::{aws_lambda_events::encodings::Base64Data, lambda_runtime, service_fn};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tnr::operate::costs::measure;

use crate::support::{
    api_events::{events_folder, http_api_event},
    fault_proxy::{Fault, FaultProxy},
    function_calls::{lambda_process, log_lines, with_iam_authorization},
    keys::{counted_requests, key_with_quotas},
    lambda_runtime::LambdaFunction,
    listening::{serve, serve_files},
    processes::wait_until,
    sample_requests::SampleRequest,
    service::{KEY, Service},
    template::{assert_has_alarm_metrics, metrics_in},
};

/// The process that the tests start: a function as deployed.
#[test]
#[ignore = "other tests start it as a separate process"]
fn function_process() {
    if env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        let is_public = env::var_os("IS_PUBLIC").is_some();
        shared::app::start(if is_public { status::routes } else { npa::routes }).unwrap();
    }
}

/// A command that starts the function with the database at `endpoint`, and its log.
fn function(endpoint: &str) -> (Command, NamedTempFile) {
    let (mut command, log) = lambda_process(concat!(module_path!(), "::function_process"));
    command.env("AWS_ENDPOINT_URL_DYNAMODB", endpoint).env("RUST_LOG", "info");
    (command, log)
}

fn event(key: &str) -> Value {
    let mut event = http_api_event(&SampleRequest::get("/v1/npa/415?limit=3"));
    event["headers"]["authorization"] = json!(format!("Bearer {key}"));
    event
}

/// Sends a function this many requests with a key that has quotas. Freezes it after each, and asserts that each counts
/// once. Returns the longest response time. Lambda does not notify a function without its extension before stopping
/// it, so that function must write its counts without that notice.
async fn send_and_freeze(
    requests: u32,
    delay: Duration,
    freeze: Duration,
    has_extension: bool,
) -> Duration {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, Some(requests), Some(requests)).await;
    let endpoint = service.database.endpoint();
    let proxy = FaultProxy::for_operation(endpoint, "UpdateItem", Fault::Late(delay)).await;
    let (command, log) = function(&proxy.endpoint);
    let function = LambdaFunction::start_with(command, 1, has_extension).await;
    assert_eq!(function.has_extension(), has_extension);
    let mut slowest_response = Duration::ZERO;
    for request in 0..requests {
        let started = Instant::now();
        let response = function.invoke(&event(key.reveal())).await;
        if request > 0 {
            slowest_response = slowest_response.max(started.elapsed());
        }
        assert_eq!(response["statusCode"], 200, "request {request}: {response}");
        function.freeze().await;
        tokio::time::sleep(freeze).await;
    }
    let counted = async || counted_requests(&store).await.get(&key.hash()).copied();
    if !has_extension {
        function.thaw();
        wait_until(async || counted().await == Some(requests.into())).await;
    }
    function.shut_down().await;
    assert_eq!(counted().await, Some(requests.into()));
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(log.contains("cannot register the extension"), !has_extension, "{log}");
    assert!(!log.contains("ERROR"), "{log}");
    slowest_response
}

#[tokio::test]
async fn frozen_functions_count_each_request_once() {
    let (brief, long) = (Duration::from_millis(20), Duration::from_millis(600));
    let quick = send_and_freeze(60, Duration::from_millis(30), brief, true);
    let slow = send_and_freeze(20, Duration::from_millis(800), long, true);
    let without_extension = send_and_freeze(5, Duration::ZERO, Duration::ZERO, false);
    let (_, slowest_response, _) = tokio::join!(quick, slow, without_extension);
    // Near the limit, a request may have to wait for a write.
    assert!(slowest_response < Duration::from_millis(1600), "{slowest_response:?}");
}

/// Lambda does not freeze such a container, and does not notify extensions of requests.
#[tokio::test]
async fn functions_handle_concurrent_requests_if_lambda_allows_them() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let key = key_with_quotas(&store, Some(10), Some(10)).await;
    let proxy = FaultProxy::with_switch(service.database.endpoint(), None, Fault::Held).await;
    let (command, _log) = function(&proxy.endpoint);
    let function = LambdaFunction::start_with(command, 4, true).await;
    assert!(!function.has_extension());

    let list = event(key.reveal());
    let mut lookup = http_api_event(&SampleRequest::get("/v1/npa/212/nxx/234"));
    lookup["headers"]["authorization"] = list["headers"]["authorization"].clone();
    assert_eq!(function.invoke(&list).await["statusCode"], 200);
    proxy.start_failing();
    let held = function.send_event(&lookup);
    proxy.wait_until_held().await;
    proxy.stop_failing();
    for _ in 0..5 {
        assert_eq!(function.invoke(&list).await["statusCode"], 200);
    }
    proxy.release();
    assert_eq!(function.response(held).await["statusCode"], 200);
    function.shut_down().await;
    assert_eq!(counted_requests(&store).await.get(&key.hash()), Some(&7));
}

/// API Gateway accepts text or base64-encoded bytes, and one value per header.
#[tokio::test]
async fn functions_handle_iam_requests_compression_and_non_request_events() {
    let service = Service::with_sample().await;
    let (command, log) = function(service.database.endpoint());
    let function = LambdaFunction::start(command).await;
    // The handler never sees such an event, so the extension must not wait for it until the timeout.
    let started = Instant::now();
    function.invoke(&json!({ "no": "request" })).await;
    function.freeze().await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());

    let target = "/v1/npa/415?limit=100";
    let mut event = http_api_event(&SampleRequest::get(target));
    let response = function.invoke(&with_iam_authorization(event.clone())).await;
    assert_eq!(response["statusCode"], 200, "{response}");
    event["headers"]["accept-encoding"] = json!("gzip");
    event["headers"]["origin"] = json!("https://page.example");
    let response = function.invoke(&event).await;
    let headers = &response["headers"];
    event["headers"]["if-none-match"] = headers["etag"].clone();
    let not_modified = function.invoke(&event).await;
    function.shut_down().await;

    assert!(response["statusCode"] == 200 && response["isBase64Encoded"] == true, "{response}");
    assert_eq!(headers["content-encoding"], "gzip");
    assert_eq!(headers["vary"], "Accept, Accept-Encoding, Accept-Language");
    assert_eq!(headers["access-control-allow-origin"], "*");
    let body: Base64Data = serde_json::from_value(response["body"].clone()).unwrap();
    let plain: Value = serde_json::from_reader(GzDecoder::new(&body.0[..])).unwrap();
    assert_eq!(plain, service.ok(target).await);
    assert_eq!(not_modified["statusCode"], 304);
    assert!(not_modified["body"].as_str().is_none_or(str::is_empty), "{not_modified}");

    let lines = log_lines(&log, "request");
    let keys: Vec<_> = lines.iter().map(|line| &line["key"]).collect();
    assert_eq!(keys, ["iam", "tnr_live_Sample", "tnr_live_Sample"]);
}

type Exports = Arc<Mutex<Vec<(String, Value)>>>;

/// A stand-in for a collector, which responds after `delay`.
async fn collector(delay: Duration) -> (String, Exports) {
    let receive = async move |State(exports): State<Exports>, uri: Uri, Json(body): Json<Value>| {
        exports.lock().unwrap().push((uri.path().to_owned(), body));
        tokio::time::sleep(delay).await;
    };
    let exports = Exports::default();
    (serve(Router::new().fallback(receive).with_state(Arc::clone(&exports))).await, exports)
}

/// Lambda may freeze a container for minutes, or stop it without notice.
#[tokio::test]
async fn functions_export_spans_before_they_are_frozen() {
    let service = Service::with_sample().await;
    let (endpoint, exports) = collector(Duration::ZERO).await;
    let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for target in ["/v1/npa/415", "/v1/health"] {
        let (mut command, _log) = function(service.database.endpoint());
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
        command.envs((target == "/v1/health").then_some(("IS_PUBLIC", "1")));
        let function = LambdaFunction::start(command).await;
        let mut request = http_api_event(&SampleRequest::get(target));
        request["headers"]["traceparent"] = json!(caller);
        let response = function.invoke(&request).await;
        let traceparent = response["headers"]["traceparent"].as_str().unwrap().to_owned();
        function.freeze().await;
        let exported = std::mem::take(&mut *exports.lock().unwrap());
        let [(path, spans)] = &exported[..] else { panic!("{exported:#?}") };
        assert_eq!(path, "/v1/traces");
        let spans = spans["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        let span = spans.iter().find(|span| span["kind"] == 2).unwrap();
        let ids = [&span["traceId"], &span["spanId"]].map(|id| id.as_str().unwrap());
        assert_eq!(traceparent, format!("00-{}-{}-01", ids[0], ids[1]));
        assert_eq!(span["parentSpanId"], "00f067aa0ba902b7");
        function.shut_down().await;
    }
}

/// Otherwise the container's next requests would wait for it.
#[tokio::test]
async fn functions_wait_only_once_and_briefly_for_a_hanging_collector() {
    let service = Service::with_sample().await;
    let (endpoint, exports) = collector(Duration::from_secs(60)).await;
    let (mut command, log) = function(service.database.endpoint());
    command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint);
    let function = LambdaFunction::start(command).await;
    let started = Instant::now();
    for _ in 0..5 {
        assert_eq!(function.invoke(&event(KEY)).await["statusCode"], 200);
        function.freeze().await;
    }
    // Less than the default timeout of an export.
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    assert_eq!(exports.lock().unwrap().len(), 1);
    function.shut_down().await;
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("failed to export telemetry").count(), 1, "{log}");
}

/// The process that the test below starts: the import as deployed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test starts it as a separate process"]
async fn import_process() {
    if env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        lambda_runtime::run(service_fn(ingest::handle)).await.unwrap();
    }
}

/// If two reports arrive in the data bucket at once, two imports start. Here, the first attempt to publish fails.
#[tokio::test]
async fn an_overtaken_import_function_restarts_and_logs_one_line_with_all_metrics() {
    let service = Service::with_sample().await;
    let endpoint = service.database.endpoint();
    let proxy = FaultProxy::for_first_calls(endpoint, 1, "PutItem", Fault::CONDITION_FAILED).await;
    let (mut command, log) = lambda_process(concat!(module_path!(), "::import_process"));
    command.env("AWS_ENDPOINT_URL_DYNAMODB", &proxy.endpoint);
    // A stand-in for S3. The event's bucket is `sample`.
    command.env("AWS_ENDPOINT_URL_S3", serve_files(env!("CARGO_MANIFEST_DIR").into()).await);
    let function = LambdaFunction::start(command).await;
    let event = fs::read_to_string(events_folder().join("ingest/sample.json")).unwrap();
    let report = function.invoke(&serde_json::from_str(&event).unwrap()).await;
    function.shut_down().await;
    assert_eq!(report["outcome"], "unchanged", "{report}");
    let reads = proxy.take_completed();
    let manifests = reads.iter().filter(|call| call.operation == "GetItem").count();
    assert!(manifests >= 2, "each attempt reads the manifest: {reads:?}");

    let lines = log_lines(&log, "import");
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&line["ImportSucceeded"], &line["Records"]), (&1.0.into(), &3484.0.into()));
    assert_eq!(metrics_in(line).len() as f64, measure("import_metrics"));
    assert_has_alarm_metrics(line, "IngestFunction");
}
