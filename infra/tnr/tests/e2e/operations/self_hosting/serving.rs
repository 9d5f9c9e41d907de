//! The server's addresses and database.

use std::sync::{Arc, Mutex};

use axum::{Router, http::HeaderMap, http::StatusCode};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{
    program::{Server, command_for, program, stderr},
    service::{Service, serve},
};

#[tokio::test]
async fn remote_databases_get_the_sample_and_a_key_only_with_the_sample_option() {
    let service = Service::empty().await;
    let options = ["--port", "0", "--endpoint-url", service.database.endpoint(), "--sample"];
    let server = Server::at(service.database.endpoint(), &[]).await;
    let output = server.output();
    assert!(
        output.contains("none yet; get it with 'tnr import --fetch --endpoint-url "),
        "{output}"
    );
    assert!(output.contains("none; create one with 'tnr keys create --endpoint-url "), "{output}");
    assert!(!output.contains("tnr_live_"), "{output}");
    let store = service.database.store();
    assert!(store.manifest().await.unwrap().is_none());
    assert_eq!(store.api_keys().await.unwrap().len(), 1, "only the test's own key");
    assert!(server.interrupt().await);

    let folder = TempDir::new().unwrap();
    let server = Server::start(&mut command_for(&folder, &options)).await;
    assert!(server.key.starts_with("tnr_live_"), "{}", server.output());
    assert_eq!(server.get("/v1/npa/415?limit=1").await["npa"], "415");
}

/// Operations that a database received, each with its `Authorization` header.
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
async fn remote_databases_use_the_configured_credentials_and_may_create_tables_slowly() {
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
