//! Tests the server with databases that are remote, failing, or in use by another command. Sessions test the rest.

use std::sync::{Arc, Mutex};

use axum::{Router, http::HeaderMap, http::StatusCode};
use serde_json::json;
use store::Store;
use tempfile::TempDir;
use tnr::{
    database::Database,
    keys::{random, register},
};

use crate::support::{
    databases::sample_folder,
    fault_proxy::{Fault, FaultProxy},
    listening::serve,
    processes::wait_until,
    program::{Server, program, run, stderr, stdout},
    service::{KEY, Service, http_client},
};

/// Operations that a database received, each with the `Authorization` header.
type Calls = Arc<Mutex<Vec<(String, String)>>>;

/// A database whose tables are CREATING for the first two status requests. It rejects all other calls.
async fn database_that_creates_tables_slowly() -> (String, Calls) {
    let calls = Calls::default();
    let seen = Arc::clone(&calls);
    let respond = async move |headers: HeaderMap| {
        let header = |name| headers[name].to_str().unwrap().to_owned();
        let operation = header("x-amz-target").rsplit_once('.').unwrap().1.to_owned();
        let mut calls = seen.lock().unwrap();
        calls.push((operation.clone(), header("authorization")));
        let count = calls.iter().filter(|(earlier, _)| *earlier == operation).count();
        match operation.as_str() {
            "DescribeTable" => {
                let status = if count < 3 { "CREATING" } else { "ACTIVE" };
                (StatusCode::OK, json!({ "Table": { "TableStatus": status } }).to_string())
            }
            "CreateTable" => {
                (StatusCode::BAD_REQUEST, r#"{"__type":"x#ResourceInUseException"}"#.to_owned())
            }
            _ => (StatusCode::BAD_REQUEST, r#"{"__type":"x#AccessDeniedException"}"#.to_owned()),
        }
    };
    (serve(Router::new().fallback(respond)).await, calls)
}

#[tokio::test]
async fn keys_create_uses_configured_credentials_and_waits_for_slow_table_creation() {
    let (endpoint, calls) = database_that_creates_tables_slowly().await;
    let mut command = program(&["keys", "create", "--name", "x", "--endpoint-url", &endpoint]);
    command.envs([
        ("AWS_REGION", "eu-central-1"),
        ("AWS_ACCESS_KEY_ID", "alternator"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
    ]);
    let rejected = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(stderr(&rejected).contains("AccessDeniedException"), "{}", stderr(&rejected));
    let calls = calls.lock().unwrap();
    for (_, authorization) in calls.iter() {
        assert!(authorization.contains("Credential=alternator/"), "{authorization}");
        assert!(authorization.contains("/eu-central-1/dynamodb/"), "{authorization}");
    }
    let polls = calls.iter().filter(|(operation, _)| operation == "DescribeTable").count();
    assert_eq!(polls, 3 + 5, "it waits for the first table");
    assert_eq!(calls.last().unwrap().0, "PutItem");
}

async fn text(url: &str) -> (StatusCode, String) {
    let response = http_client().get(url).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is not in\n{metrics}")).parse().unwrap()
}

#[tokio::test]
async fn metrics_and_readiness_report_a_failed_database() {
    let sample = Service::with_sample().await;
    let endpoint = sample.database.endpoint();
    let proxy = FaultProxy::with_switch(endpoint, None, Fault::NON_RETRYABLE).await;
    let options = ["--ops-address", "127.0.0.1:0", "--key", KEY];
    let server = Server::at(&proxy.endpoint, &options).await;
    let operations = server.operations_url();
    let ready = async || text(&format!("{operations}/ready")).await;
    let metric = async |name: &str| value(&text(&format!("{operations}/metrics")).await.1, name);
    let look_up = async || server.response("/v1/carrier/908K", KEY).await.status();
    let metrics = format!("{operations}/metrics");
    // The data loads without any request.
    wait_until(async || text(&metrics).await.1.contains("tnr_data_info{")).await;
    assert_eq!(metric("tnr_database_up").await, 1.0);

    proxy.start_failing();
    let (status, reason) = ready().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "no key is in memory");
    assert!(
        reason.starts_with("API keys cannot be checked: GetItem on table api_keys"),
        "{reason}"
    );
    assert_eq!([metric("tnr_ready").await, metric("tnr_database_up").await], [0.0, 0.0]);
    let refused = r#"tnr_dynamodb_failed_calls_total{kind="refused"}"#;
    assert!(metric(refused).await >= 1.0);

    proxy.stop_failing();
    wait_until(async || ready().await.0 == StatusCode::OK).await;
    assert_eq!(look_up().await, StatusCode::OK);
    proxy.start_failing();
    assert_eq!(look_up().await, StatusCode::OK);
    assert_eq!(metric("tnr_database_up").await, 0.0);
    assert_eq!(ready().await.0, StatusCode::OK, "data and a key are in memory");
}

/// Writes keys endlessly, like an import that writes items.
async fn write_forever(store: Store) {
    for index in 0.. {
        let key = random(shared::auth::KeyKind::Live).unwrap();
        register(&store, &key, &format!("key {index}")).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_do_not_wait_for_writers() {
    let (data_dir, output) = (sample_folder(), TempDir::new().unwrap());
    let database = Database::embedded(data_dir.path()).await.unwrap();
    let writing = tokio::spawn(write_forever(database.store()));
    let backup = output.path().join("backup").display().to_string();
    for command in
        [&["lookup", "4152341234"][..], &["verify"], &["keys", "list"], &["backup", &backup]]
    {
        stdout(&run(&data_dir, command));
    }
    let failed = run(&data_dir, &["keys", "create", "--name", "second writer"]);
    assert!(stderr(&failed).contains("is in use by another command"), "{}", stderr(&failed));
    assert!(!writing.is_finished());
    writing.abort();
    database.close().await;
}
