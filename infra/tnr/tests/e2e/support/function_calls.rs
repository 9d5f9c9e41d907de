//! Calls functions in this process, either with complete events, as Lambda does, or with requests; and starts them as
//! separate processes.

use std::{collections::BTreeMap, env, process::Command};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, Response},
};
use lambda_http::{Service as _, tower::ServiceExt};
use serde_json::{Value, json};
use shared::{
    app::{self, lambda},
    routes::Routes,
    state::App,
};
use tempfile::NamedTempFile;

use super::service::KEY;

/// A function's response to an event.
pub struct FunctionResponse {
    pub status: u16,
    pub headers: HeaderMap,
    /// A JSON string if the body is not JSON.
    pub body: Value,
}

impl FunctionResponse {
    pub fn text(&self) -> String {
        self.body.as_str().map_or_else(|| self.body.to_string(), str::to_owned)
    }

    /// The response as API Gateway receives it.
    pub fn payload(&self) -> Value {
        let headers: BTreeMap<&str, &str> = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        json!({
            "statusCode": self.status, "headers": headers, "multiValueHeaders": {},
            "body": self.text(), "isBase64Encoded": false, "cookies": [],
        })
    }
}

/// Calls a function with these routes. Returns its response to the event.
pub async fn response_to(routes: Routes, app: App, event: &Value) -> FunctionResponse {
    let request = lambda_http::request::from_str(&event.to_string()).unwrap();
    let response = lambda(routes, app).call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
    FunctionResponse { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// The event that API Gateway sends for an IAM-authorized request.
pub fn with_iam_authorization(mut event: Value) -> Value {
    event["headers"].as_object_mut().unwrap().remove("authorization");
    event["requestContext"]["authorizer"] = json!({ "iam": {
        "accessKey": "ASIAEXAMPLE", "accountId": "123456789012", "callerId": "AROAEXAMPLE:probe",
        "cognitoIdentity": null, "principalOrgId": null, "userId": "AROAEXAMPLE:probe",
        "userArn": "arn:aws:sts::123456789012:assumed-role/probe/probe",
    } });
    event
}

/// All functions behind a single router.
pub fn api(app: App) -> Router {
    app::service(tnr::routes(), app)
}

/// Sends a `GET` request with the sample key.
pub async fn send(api: &Router, target: &str) -> Response<Body> {
    let request = Request::get(target).header("host", "localhost").header("x-api-key", KEY);
    api.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

pub async fn text(response: Response<Body>) -> String {
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

/// The status and body of a response, which must be JSON.
pub async fn get(api: &Router, target: &str) -> (u16, Value) {
    let response = send(api, target).await;
    let status = response.status().as_u16();
    (status, serde_json::from_str(&text(response).await).unwrap())
}

/// A command that runs an ignored test in this binary, by path, as a Lambda function, and its log. Callers add the
/// addresses of the services that it calls.
pub fn lambda_process(path: &str) -> (Command, NamedTempFile) {
    let log = NamedTempFile::new().unwrap();
    let file = log.reopen().unwrap();
    // The path starts with the crate name, which the harness omits.
    let (_, name) = path.split_once("::").unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", name, "--ignored", "--nocapture"])
        // With one thread, the harness writes a test's name before its output.
        .env("RUST_TEST_THREADS", "2")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .stdout(file.try_clone().unwrap())
        .stderr(file);
    (command, log)
}

/// The lines with this message in a process's log.
pub fn log_lines(log: &NamedTempFile, message: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(log).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["message"] == message).collect()
}
