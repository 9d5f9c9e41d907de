//! A stand-in for an AWS account with a stack: CloudFormation, Lambda, CloudWatch and SNS answer as
//! documented. DynamoDB calls go to the embedded database, and the answers gain AWS-only fields.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::Ipv4Addr,
    process::Output,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use ingest::Options;
use serde_json::{Value, json};
use shared::{app, state::App};
use store::{Store, Tables, TimeoutProfile};
use tnr::{
    database::{Database, tables::create_missing},
    keys, routes,
};
use tokio::net::TcpListener;

use super::{
    program::program,
    service::{KEY, http_client},
    small_reports::ReportTexts,
};

const STACK: &str = "numbers";

/// A stack that tests can change.
#[derive(Debug, Clone, Default)]
pub struct StackState {
    pub unprotected: BTreeSet<String>,
    /// Operations denied to the credentials.
    pub denied: BTreeSet<String>,
    /// Operations that never get an answer.
    pub stalled: BTreeSet<String>,
    /// The secret in the functions' settings.
    pub origin_secret: Option<String>,
    /// Every operation called, named as in policies.
    pub called: BTreeSet<String>,
    base_url: String,
    /// The database with the tables.
    dynamodb: String,
}

type Shared = Arc<Mutex<StackState>>;

/// The stand-in, with a service on the stack's tables.
pub struct AwsAccount {
    pub store: Store,
    endpoint: String,
    _database: Database,
    state: Shared,
}

impl AwsAccount {
    /// An account with a healthy stack some time after its first deployment, with data and a key.
    pub async fn with_stack() -> Self {
        Self::requiring("").await
    }

    /// The same with functions that require a secret, unless it is empty.
    pub async fn requiring(secret: &str) -> Self {
        let database = Database::in_memory().await.unwrap();
        let dynamodb = database.endpoint().to_owned();
        let store = store_at(&dynamodb, TimeoutProfile::Batch);
        create_missing(&store).await.unwrap();
        let sources = ReportTexts::first().sources();
        ingest::ingest(&store, &sources, Options::default(), |_| ()).await.unwrap();
        keys::register(&store, &KEY.parse().unwrap(), "tests").await.unwrap();
        let app = App::on(store_at(&dynamodb, TimeoutProfile::Request));
        let refusing = from_fn_with_state(secret.to_owned(), refuse_strangers);
        let base_url = serve(app::service(routes(), app).layer(refusing)).await;
        let state = StackState { dynamodb, base_url, ..StackState::default() };
        let state = Shared::new(Mutex::new(state));
        let endpoint = serve(Router::new().fallback(answer).with_state(state.clone())).await;
        Self { endpoint, store, _database: database, state }
    }

    pub fn change(&self, change: impl FnOnce(&mut StackState)) {
        change(&mut self.state.lock().unwrap());
    }

    pub fn state(&self) -> StackState {
        self.state.lock().unwrap().clone()
    }

    /// Runs the program with the account's credentials.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = program(arguments);
        command.envs([
            ("AWS_ENDPOINT_URL", self.endpoint.as_str()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }
}

fn store_at(endpoint: &str, timeouts: TimeoutProfile) -> Store {
    let emulator = Store::at_emulator(endpoint, timeouts);
    let config = emulator.parts().0.config().to_builder();
    Store::connect(config, Tables::for_stack(STACK), timeouts)
}

/// Serves a router, and returns its URL.
pub async fn serve(router: Router) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// Refuses requests without the secret, as the functions do behind API Gateway.
async fn refuse_strangers(State(secret): State<String>, request: Request, next: Next) -> Response {
    let sent = request.headers().get("x-origin-secret").map_or(&b""[..], |sent| sent.as_bytes());
    if !secret.is_empty() && secret.as_bytes() != sent {
        let body = json!({ "error": "forbidden", "message": "Not by way of the distribution" });
        return (StatusCode::FORBIDDEN, axum::Json(body)).into_response();
    }
    next.run(request).await
}

async fn answer(
    State(state): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let form: BTreeMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    let is_lambda = uri.path().starts_with("/2015-03-31/");
    let target = headers.get("x-amz-target").map(|target| target.to_str().unwrap());
    let operation = match target {
        Some(target) => target.rsplit('.').next().unwrap().to_owned(),
        None if is_lambda => "GetFunctionConfiguration".to_owned(),
        None => form["Action"].clone(),
    };
    // The signature's scope names the service; CloudWatch signs with its former name.
    let authorization = headers[header::AUTHORIZATION].to_str().unwrap();
    let service = authorization.split('/').nth(3).unwrap().replace("monitoring", "cloudwatch");
    let now = {
        let mut state = state.lock().unwrap();
        state.called.insert(format!("{service}:{operation}"));
        state.clone()
    };
    if now.stalled.contains(&operation) {
        std::future::pending::<()>().await;
    }
    if now.denied.contains(&operation) {
        let message = format!("User: tests is not authorized to perform: {operation}");
        let denial = json!({ "__type": "com.amazon#AccessDeniedException", "message": message });
        return (StatusCode::FORBIDDEN, denial.to_string()).into_response();
    }
    match operation.as_str() {
        "GetFunctionConfiguration" => {
            assert_eq!(uri.path(), "/2015-03-31/functions/numbers-status/configuration");
            let variables = json!({ "ORIGIN_SECRET": now.origin_secret });
            json!({ "Environment": { "Variables": variables } }).to_string().into_response()
        }
        "UpdateTable" => {
            let request: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(request["DeletionProtectionEnabled"], true);
            let table = request["TableName"].as_str().unwrap();
            state.lock().unwrap().unprotected.remove(table);
            json!({ "TableDescription": { "TableName": table } }).to_string().into_response()
        }
        _ if target.is_some() => answer_dynamodb(&now, &operation, headers, body).await,
        _ => xml(&operation, &now.base_url).into_response(),
    }
}

/// The answer to a Query protocol operation.
fn xml(operation: &str, base_url: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/support/aws_answers");
    let answer = fs::read_to_string(format!("{folder}/{operation}.xml"));
    answer.unwrap_or_else(|_| panic!("{operation}")).replace("{base_url}", base_url)
}

async fn answer_dynamodb(
    now: &StackState,
    operation: &str,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    let table = serde_json::from_slice::<Value>(&body).unwrap()["TableName"].clone();
    let table = table.as_str().unwrap_or_default();
    let content_type = [(header::CONTENT_TYPE, "application/x-amz-json-1.0")];
    if operation == "DescribeContinuousBackups" {
        let answer = json!({ "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": { "PointInTimeRecoveryStatus": "ENABLED" },
        } });
        return (content_type, answer.to_string()).into_response();
    }
    let forwarded = http_client().post(&now.dynamodb).headers(headers).body(body);
    let response = forwarded.send().await.unwrap();
    let status = response.status();
    let mut answer: Value = response.json().await.unwrap();
    if operation == "DescribeTable" && answer["Table"].is_object() {
        let is_protected = !now.unprotected.contains(table);
        answer["Table"]["DeletionProtectionEnabled"] = is_protected.into();
    }
    (status, content_type, answer.to_string()).into_response()
}
