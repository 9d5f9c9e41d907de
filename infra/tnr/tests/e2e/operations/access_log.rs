//! Log lines for requests and imports, and the metrics in them.

use std::{env, fs, path::Path};

use axum::{Router, http::Uri};
use lambda_http::{lambda_runtime, service_fn};
use serde_json::Value;
use tempfile::TempDir;
use tnr::operate::costs::measures::{IMPORT_METRICS, LOG_BYTES, REQUEST_METRICS};

use super::costs::assert_measured;
use crate::support::{
    api_events::events_folder,
    fault_proxy::{Fault, FaultProxy, for_first_calls},
    lambda_runtime::{LambdaFunction, Registration},
    metrics::{assert_has_alarm_metrics, metrics_in},
    processes::lambda_process,
    program::{Server, command_for},
    service::{KEY, Service, http_client, serve},
};

#[tokio::test]
async fn functions_log_one_line_per_request_with_all_metrics() {
    let data_dir = TempDir::new().unwrap();
    let mut command = command_for(&data_dir, &["--port", "0", "--key", KEY]);
    let server = Server::start(command.env("AWS_LAMBDA_FUNCTION_NAME", "stack-format")).await;
    let targets = [
        format!("/v1/format/+13052345678?apiKey={KEY}"),
        format!("/v1/format?tn=%28305%29%20234-5678&apiKey={KEY}"),
        format!("/v1/npa/415?apiKey={KEY}&apiKey={KEY}x"),
        "/v1/nowhere".to_owned(),
    ];
    let mut ids = Vec::new();
    for target in &targets {
        let request = http_client().get(format!("{}{target}", server.base_url));
        let request =
            request.header("x-request-id", format!("4bf92f3577b34da6a3ce929d0e0e473{}", ids.len()));
        let response = request.send().await.unwrap();
        ids.push(response.headers()["x-request-id"].to_str().unwrap().to_owned());
    }
    let output = server.output();
    let (_, logged) = output.split_once("Ctrl-C").unwrap();
    let lines = logged.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let column =
        |name: &str| -> Vec<Value> { lines.iter().map(|line| line[name].clone()).collect() };
    assert_eq!(column("request_id"), ids);
    assert!(ids.iter().all(|id| id.starts_with("4bf92f3577b34da6a3ce929d0e0e473")), "{ids:?}");
    assert_eq!(column("route"), ["/v1/format/{*tn}", "/v1/format", "/v1/npa/{npa}", "$default"]);
    assert_eq!(column("status"), [200, 200, 400, 404]);
    assert_eq!(column("cold_start"), [true, false, false, false]);
    assert_eq!(lines[0]["tn"], "+1305234****");
    assert_eq!(lines[1]["tn"], "+1305234****");
    assert_eq!(lines[0]["key"], &KEY[..15]);
    assert!(lines[0]["data_version"].as_str().unwrap().contains("T"));
    // The first lookup reads the key, manifest and exchange; the second finds them all in memory.
    assert_eq!((&lines[0]["CacheMisses"], &lines[1]["CacheHits"]), (&1.0.into(), &1.0.into()));
    assert!(lines[0]["ConsumedCapacity"].as_f64().unwrap() >= 1.5, "{}", lines[0]);
    assert_eq!(lines[1]["ConsumedCapacity"], 0.0);
    assert_eq!(lines[3]["ClientErrors"], 1.0);

    assert_measured("LOG_BYTES", LOG_BYTES.into(), lines[0].to_string().len() as f64);
    assert_eq!(metrics_in(&lines[0]).len() as u32, REQUEST_METRICS);
}

/// The process that the test below starts: the import as deployed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test starts it as a separate process"]
async fn import_process() {
    if env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        lambda_runtime::run(service_fn(ingest::handle)).await.unwrap();
    }
}

/// A stand-in for S3 with a single bucket, `sample`, which contains the sample.
async fn sample_bucket() -> String {
    let object = async |uri: Uri| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::read(folder.join(uri.path().trim_start_matches('/'))).unwrap()
    };
    serve(Router::new().fallback(object)).await
}

/// Two reports that arrive in the data bucket at once start two imports, so the first attempt to publish fails here.
#[tokio::test]
async fn an_overtaken_import_function_restarts_and_logs_one_line_with_all_metrics() {
    let service = Service::with_sample().await;
    let policy = for_first_calls(1, "PutItem", Fault::ConditionFailed);
    let proxy = FaultProxy::new(service.database.endpoint(), policy).await;
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("output");
    let mut command = lambda_process(concat!(module_path!(), "::import_process"), &output);
    command.env("AWS_ENDPOINT_URL_DYNAMODB", &proxy.endpoint);
    command.env("AWS_ENDPOINT_URL_S3", sample_bucket().await);
    let mut function = LambdaFunction::start(command, Registration::Accepted).await;
    let event = fs::read_to_string(events_folder().join("ingest/sample.json")).unwrap();
    let report = function.invoke(&serde_json::from_str(&event).unwrap()).await;
    function.shut_down().await;
    assert_eq!(report["outcome"], "unchanged", "{report}");
    let reads = proxy.take_answered();
    let manifests = reads.iter().filter(|call| call.operation == "GetItem").count();
    assert!(manifests >= 2, "each attempt reads the manifest: {reads:?}");

    let output = fs::read_to_string(output).unwrap();
    let lines = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<Value> = lines.filter(|line| line["message"] == "import").collect();
    let [line] = &lines[..] else { panic!("{output}") };
    assert_eq!((&line["ImportSucceeded"], &line["Records"]), (&1.0.into(), &3484.0.into()));
    assert_eq!(metrics_in(line).len() as u32, IMPORT_METRICS);
    assert_has_alarm_metrics(line, "IngestFunction");
}
