//! A stand-in for AWS: the account and stack that `doctor` and `keys` read, and the Lambda functions and CodeDeploy
//! that the probe calls. DynamoDB calls go to the embedded database, and responses gain AWS-only fields.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Output,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
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
use tokio::sync::Semaphore;

use super::{
    endpoints::routes_for,
    function_calls::response_to,
    program::program,
    service::{KEY, http_client, serve},
    small_reports::ReportSet,
    template::decode,
};

const STACK: &str = "numbers";
/// A function's run time when concurrency is limited.
const RUN_TIME: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misbehavior {
    /// Responds with 500, as after a panic.
    InternalError,
    Silent,
    /// Exits before it responds.
    Crashed,
    /// Responds with a wrong OCN.
    WrongData,
    /// Does not exist.
    Deleted,
}

#[derive(Debug, Clone)]
pub struct Invocation {
    pub function: String,
    /// The version or alias.
    pub qualifier: String,
    pub event: Value,
}

/// The running stand-in, which stops with the test's runtime.
#[derive(Clone)]
pub struct Aws {
    pub endpoint: String,
    state: Arc<Mutex<AwsState>>,
}

/// State that tests can change, and the calls received.
#[derive(Default)]
pub struct AwsState {
    /// Tables without deletion protection.
    pub unprotected: BTreeSet<String>,
    /// The status of every table; `None` for the database's own.
    pub table_status: Option<&'static str>,
    /// Operations denied to the credentials.
    pub denied: BTreeSet<&'static str>,
    /// Operations that never get a response.
    pub stalled: BTreeSet<&'static str>,
    /// Every operation called, as IAM policies name it.
    pub called: BTreeSet<String>,
    base_url: String,
    /// The database with the tables.
    dynamodb: String,

    app: Option<App>,
    /// The app that new versions serve, if it differs.
    pub new_version_app: Option<App>,
    pub misbehaving: Option<(&'static str, Misbehavior)>,
    /// The number of CodeDeploy calls yet to fail.
    pub failing_reports: u32,
    /// The concurrency limit; `None` for unlimited.
    pub concurrency: Option<Arc<Semaphore>>,
    /// The number of throttled invocations.
    pub throttled: usize,
    pub invocations: Vec<Invocation>,
    pub reports: Vec<Value>,
}

/// The ARN of a function's first version.
pub fn version_arn(function: &str) -> String {
    format!("arn:aws:lambda:us-east-1:123456789012:function:numbers-{function}:7")
}

impl Aws {
    /// Functions that respond like `app`.
    pub async fn with_functions(app: App) -> Self {
        Self::new(AwsState { app: Some(app), ..AwsState::default() }).await
    }

    async fn new(state: AwsState) -> Self {
        let state = Arc::new(Mutex::new(state));
        let router = Router::new().fallback(handle).with_state(Arc::clone(&state));
        Self { endpoint: serve(router).await, state }
    }

    pub fn state(&self) -> MutexGuard<'_, AwsState> {
        self.state.lock().unwrap()
    }
}

/// An account with a healthy stack that was deployed a while ago. It has data, a key, and a service on the stack's
/// tables.
pub struct AwsAccount {
    pub store: Store,
    pub aws: Aws,
    _database: Database,
}

impl AwsAccount {
    pub async fn new() -> Self {
        let database = Database::in_memory().await.unwrap();
        let dynamodb = database.endpoint().to_owned();
        let store = store_at(&dynamodb, TimeoutProfile::Batch);
        create_missing(&store).await.unwrap();
        let sources = ReportSet::first().sources();
        ingest::ingest(&store, &sources, Options::default(), |_| ()).await.unwrap();
        keys::register(&store, &KEY.parse().unwrap(), "tests").await.unwrap();
        let app = App::with_store(store_at(&dynamodb, TimeoutProfile::Request));
        let base_url = serve(app::service(routes(), app)).await;
        let aws = Aws::new(AwsState { dynamodb, base_url, ..AwsState::default() }).await;
        Self { store, aws, _database: database }
    }

    /// Runs the program with the account's credentials.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = program(arguments);
        command.envs([
            ("AWS_ENDPOINT_URL", self.aws.endpoint.as_str()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }
}

fn store_at(endpoint: &str, timeouts: TimeoutProfile) -> Store {
    let emulator = Store::connect_to_emulator(endpoint, timeouts);
    let config = emulator.parts().0.config().to_builder();
    Store::connect(config, Tables::for_stack(STACK), timeouts)
}

type Shared = State<Arc<Mutex<AwsState>>>;

async fn handle(State(state): Shared, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers.get("x-amz-target").map(|target| target.to_str().unwrap());
    let form: BTreeMap<String, String> = form_urlencoded::parse(&body).into_owned().collect();
    let path = decode(uri.path());
    let lambda = path.strip_prefix("/2015-03-31/functions/").and_then(|path| path.split_once('/'));
    let operation = match (target, lambda) {
        (Some(target), _) => target.rsplit('.').next().unwrap().to_owned(),
        (None, Some((_, "invocations"))) => "InvokeFunction".to_owned(),
        (None, _) => form["Action"].clone(),
    };
    // The signature's scope includes the service. CloudWatch signs with its former name.
    let authorization = headers[header::AUTHORIZATION].to_str().unwrap();
    let service = authorization.split('/').nth(3).unwrap().replace("monitoring", "cloudwatch");
    let (is_stalled, is_denied) = {
        let mut state = state.lock().unwrap();
        state.called.insert(format!("{service}:{operation}"));
        (state.stalled.contains(&*operation), state.denied.contains(&*operation))
    };
    if is_stalled {
        std::future::pending::<()>().await;
    }
    if is_denied {
        let message = format!("User: tests is not authorized to perform: {operation}");
        let denial = match target {
            Some(_) => json!({ "__type": "AccessDeniedException", "message": message }).to_string(),
            None => {
                let error = format!("<Code>AccessDenied</Code><Message>{message}</Message>");
                format!("<ErrorResponse><Error>{error}</Error></ErrorResponse>")
            }
        };
        return (StatusCode::FORBIDDEN, denial).into_response();
    }
    let json_body = || serde_json::from_slice::<Value>(&body).unwrap();
    match operation.as_str() {
        "InvokeFunction" => {
            assert!(authorization.contains("/us-east-1/lambda/aws4_request"), "{authorization}");
            invoke(&state, lambda.unwrap().0, json_body()).await
        }
        "PutLifecycleEventHookExecutionStatus" => {
            assert!(target.unwrap().starts_with("CodeDeploy_20141006."), "{target:?}");
            assert!(authorization.contains("/us-east-1/codedeploy/"), "{authorization}");
            assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
            receive_report(&state, json_body())
        }
        "UpdateTable" => {
            let request = json_body();
            assert_eq!(request["DeletionProtectionEnabled"], true);
            let table = request["TableName"].as_str().unwrap();
            state.lock().unwrap().unprotected.remove(table);
            json!({ "TableDescription": { "TableName": table } }).to_string().into_response()
        }
        _ if target.is_some() => call_dynamodb(&state, &operation, headers, body).await,
        _ => {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/support/aws_responses");
            let xml = fs::read_to_string(format!("{folder}/{operation}.xml"));
            let xml = xml.unwrap_or_else(|_| panic!("{operation}"));
            xml.replace("{base_url}", &state.lock().unwrap().base_url).into_response()
        }
    }
}

async fn call_dynamodb(
    state: &Mutex<AwsState>,
    operation: &str,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    let content_type = [(header::CONTENT_TYPE, "application/x-amz-json-1.0")];
    if operation == "DescribeContinuousBackups" {
        let backups = json!({ "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": { "PointInTimeRecoveryStatus": "ENABLED" },
        } });
        return (content_type, backups.to_string()).into_response();
    }
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    let dynamodb = state.lock().unwrap().dynamodb.clone();
    let forwarded = http_client().post(dynamodb).headers(headers).body(body);
    let response = forwarded.send().await.unwrap();
    let status = response.status();
    let mut body: Value = response.json().await.unwrap();
    if operation == "DescribeTable" && body["Table"].is_object() {
        let state = state.lock().unwrap();
        let table = &mut body["Table"];
        let is_protected = !state.unprotected.contains(table["TableName"].as_str().unwrap());
        table["DeletionProtectionEnabled"] = is_protected.into();
        if let Some(status) = state.table_status {
            table["TableStatus"] = status.into();
        }
    }
    (status, content_type, body.to_string()).into_response()
}

async fn invoke(state: &Mutex<AwsState>, arn: &str, event: Value) -> Response {
    let concurrency = state.lock().unwrap().concurrency.clone();
    let _running = match concurrency.map(Semaphore::try_acquire_owned) {
        None => None,
        Some(Ok(permit)) => {
            tokio::time::sleep(RUN_TIME).await;
            Some(permit)
        }
        Some(Err(_)) => {
            state.lock().unwrap().throttled += 1;
            let message = json!({ "Reason": "ConcurrentInvocationLimitExceeded", "Type": "User" });
            return (StatusCode::TOO_MANY_REQUESTS, message.to_string()).into_response();
        }
    };
    let (rest, qualifier) = arn.rsplit_once(':').unwrap();
    let function = rest.rsplit_once("function:numbers-").unwrap().1.to_owned();
    let routes = routes_for(&function);
    let (misbehavior, app) = {
        let mut state = state.lock().unwrap();
        let misbehavior = state.misbehaving.filter(|(name, _)| *name == function);
        let new_version = state.new_version_app.as_ref().filter(|_| qualifier != "live");
        let app = new_version.or(state.app.as_ref()).unwrap().clone();
        let qualifier = qualifier.to_owned();
        state.invocations.push(Invocation { function, qualifier, event: event.clone() });
        (misbehavior.map(|(_, misbehavior)| misbehavior), app)
    };
    let payload = async || response_to(routes, app, &event).await.payload();
    match misbehavior {
        Some(Misbehavior::Silent) => std::future::pending().await,
        Some(Misbehavior::Deleted) => {
            let message = format!("Function not found: {arn}");
            let body = json!({ "Type": "User", "Message": message });
            (StatusCode::NOT_FOUND, body.to_string()).into_response()
        }
        Some(Misbehavior::Crashed) => {
            let message = "RequestId: 1 Error: Runtime exited with error: signal: killed";
            let body = json!({ "errorType": "Runtime.ExitError", "errorMessage": message });
            ([("x-amz-function-error", "Unhandled")], body.to_string()).into_response()
        }
        Some(Misbehavior::InternalError) => {
            let body = json!({ "error": "internal_error", "message": "x" }).to_string();
            let payload =
                json!({ "statusCode": 500, "headers": {}, "isBase64Encoded": false, "body": body });
            payload.to_string().into_response()
        }
        Some(Misbehavior::WrongData) => {
            let mut payload = payload().await;
            let body = payload["body"].as_str().unwrap();
            let mut parts = body.split("\"ocn\":\"");
            let first = parts.next().unwrap_or_default().to_owned();
            let rest = parts.map(|part| format!("\"ocn\":\"ZZZZ{}", &part[4..]));
            payload["body"] = (first + &rest.collect::<String>()).into();
            payload.to_string().into_response()
        }
        None => payload().await.to_string().into_response(),
    }
}

fn receive_report(state: &Mutex<AwsState>, report: Value) -> Response {
    let mut state = state.lock().unwrap();
    if state.failing_reports > 0 {
        state.failing_reports -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let id = json!({ "lifecycleEventHookExecutionId": report["lifecycleEventHookExecutionId"] });
    state.reports.push(report);
    id.to_string().into_response()
}
