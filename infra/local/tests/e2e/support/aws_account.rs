//! A stand-in for the services of AWS, with a stack in it: CloudFormation, Lambda, CloudWatch, SNS
//! and EventBridge answer as AWS documents it. Calls to DynamoDB go to the embedded database, and the
//! answers get what only AWS has.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    process::{Command, Output},
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
use tnr::{commands::keys, database::Database, routes, tables::create_missing};
use tokio::net::TcpListener;

use super::{
    aws_stack::{REGION, STACK, StackState},
    program::program,
    service::{KEY, http_client},
    small_reports::ReportTexts,
    template::decoded,
};

type Shared = Arc<Mutex<StackState>>;

/// The stand-in, with a service that runs on the tables of the stack.
pub struct AwsAccount {
    pub endpoint: String,
    pub store: Store,
    _database: Database,
    state: Shared,
}

impl AwsAccount {
    /// An account with a stack as it is a while after its first deployment: data, a key, and all well.
    pub async fn with_stack() -> Self {
        let database = Database::in_memory().await.unwrap();
        let dynamodb = database.endpoint().to_owned();
        let store = store_at(&dynamodb, TimeoutProfile::Batch);
        create_missing(&store).await.unwrap();
        let sources = ReportTexts::first().sources();
        ingest::ingest(&store, &sources, Options::default(), |_| ()).await.unwrap();
        keys::register(&store, &KEY.parse().unwrap(), "tests").await.unwrap();
        let serving = store_at(&dynamodb, TimeoutProfile::Request);
        let state: Shared = Arc::new(Mutex::new(StackState::of_template(dynamodb)));
        let service = app::service(routes(), App::on(serving))
            .layer(from_fn_with_state(state.clone(), refuse_strangers));
        let base_url = serve(service).await;
        state.lock().unwrap().base_url = base_url;
        let endpoint = serve(Router::new().fallback(answer).with_state(state.clone())).await;
        Self { endpoint, store, _database: database, state }
    }

    /// Changes the stack.
    pub fn change(&self, change: impl FnOnce(&mut StackState)) {
        change(&mut self.state.lock().unwrap());
    }

    pub fn state(&self) -> StackState {
        self.state.lock().unwrap().clone()
    }

    /// Runs the program with the credentials of the account.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = program(arguments);
        self.log_in(&mut command);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    fn log_in(&self, command: &mut Command) {
        command.envs([
            ("AWS_ENDPOINT_URL", self.endpoint.as_str()),
            ("AWS_REGION", REGION),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
    }
}

fn store_at(endpoint: &str, timeouts: TimeoutProfile) -> Store {
    let emulator = Store::at_emulator(endpoint, timeouts);
    let config = emulator.parts().0.config().to_builder();
    Store::connect(config, Tables::of_stack(STACK), timeouts)
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// The operation that a request asks for, in each of the three protocols.
fn operation(uri: &Uri, headers: &HeaderMap, body: &[u8]) -> String {
    if let Some(target) = headers.get("x-amz-target") {
        return target.to_str().unwrap().rsplit('.').next().unwrap().to_owned();
    }
    if uri.path().starts_with("/2015-03-31/") {
        let is_alias = uri.path().contains("/aliases/");
        return if is_alias { "GetAlias" } else { "GetFunctionConfiguration" }.to_owned();
    }
    let form = form(body);
    form["Action"].clone()
}

/// The service in the name of a permission, from the scope of the signature.
fn service_of(uri: &Uri, headers: &HeaderMap) -> String {
    let authorization = headers[header::AUTHORIZATION].to_str().unwrap();
    let service = authorization.split('/').nth(3).unwrap_or_else(|| panic!("{uri}"));
    // CloudWatch signs with its earlier name.
    if service == "monitoring" { "cloudwatch".to_owned() } else { service.to_owned() }
}

fn form(body: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect()
}

/// Answers requests as the functions do that a distribution has not passed on.
async fn refuse_strangers(State(state): State<Shared>, request: Request, next: Next) -> Response {
    let secret = state.lock().unwrap().origin_secret.clone();
    let sent = request.headers().get("x-origin-secret").map(|sent| sent.to_str().unwrap());
    if secret.is_some() && secret.as_deref() != sent {
        let body = json!({ "error": "forbidden", "message": "Not by way of the distribution" });
        return (StatusCode::FORBIDDEN, body.to_string()).into_response();
    }
    next.run(request).await
}

async fn answer(
    State(state): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert!(headers.contains_key(header::AUTHORIZATION), "every request is signed");
    let operation = operation(&uri, &headers, &body);
    let now = {
        let mut state = state.lock().unwrap();
        state.called.insert(format!("{}:{operation}", service_of(&uri, &headers)));
        state.clone()
    };
    if now.stalled.contains(&operation) {
        std::future::pending::<()>().await;
    }
    let is_json = headers.contains_key("x-amz-target") || uri.path().starts_with("/2015-03-31/");
    if now.denied.contains(&operation) {
        return denial(&operation, is_json);
    }
    match operation.as_str() {
        "DescribeStacks" if form(&body)["StackName"] != STACK => no_stack(),
        "DescribeStacks" => now.stack().into_response(),
        "ListStackResources" => now.resources().into_response(),
        "DescribeAlarms" => now.alarms().into_response(),
        "ListSubscriptionsByTopic" => now.subscriptions().into_response(),
        "DescribeRule" => now.rule().to_string().into_response(),
        "GetAlias" | "GetFunctionConfiguration" => now.lambda(&uri).to_string().into_response(),
        "UpdateTable" => update_table(&state, &body),
        _ => of_dynamodb(&now, &operation, headers, body).await,
    }
}

fn denial(operation: &str, is_json: bool) -> Response {
    let message = format!("User: tests is not authorized to perform: {operation}");
    let body = if is_json {
        json!({ "__type": "com.amazon.coral.service#AccessDeniedException", "message": message })
            .to_string()
    } else {
        format!(
            "<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>AccessDenied</Code>\
             <Message>{message}</Message></Error></ErrorResponse>"
        )
    };
    (StatusCode::FORBIDDEN, body).into_response()
}

fn no_stack() -> Response {
    let error = "<ErrorResponse xmlns=\"x\"><Error><Code>ValidationError</Code>\
                 <Message>Stack with id letters does not exist</Message></Error></ErrorResponse>";
    (StatusCode::BAD_REQUEST, error).into_response()
}

fn update_table(state: &Shared, body: &[u8]) -> Response {
    let request: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(request["DeletionProtectionEnabled"], true);
    let table = request["TableName"].as_str().unwrap();
    state.lock().unwrap().unprotected.remove(table);
    json!({ "TableDescription": { "TableName": table } }).to_string().into_response()
}

async fn of_dynamodb(
    now: &StackState,
    operation: &str,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    let table = serde_json::from_slice::<Value>(&body).unwrap()["TableName"].clone();
    let forwarded = http_client().post(&now.dynamodb).headers(headers).body(body);
    let response = forwarded.send().await.unwrap();
    let status = response.status();
    let mut answer: Value = response.json().await.unwrap();
    let is_only_of_aws = matches!(operation, "DescribeContinuousBackups" | "DescribeTimeToLive");
    now.add_aws(operation, table.as_str().unwrap_or_default(), &mut answer);
    let status = if is_only_of_aws { StatusCode::OK } else { status };
    let content_type = [(header::CONTENT_TYPE, "application/x-amz-json-1.0")];
    (status, content_type, answer.to_string()).into_response()
}
