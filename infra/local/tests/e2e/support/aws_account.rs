//! A stand-in for the services of AWS, with a stack in it: CloudFormation, Lambda, CloudWatch, SNS
//! and EventBridge answer as AWS documents it. Calls to DynamoDB go to the embedded database, and the
//! answers get what only AWS has.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
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
use yaml_serde::Value as Yaml;

use super::{
    program::program,
    service::{KEY, http_client},
    small_reports::ReportTexts,
    template::{self, functions, resources_of_type, text},
};

pub const STACK: &str = "numbers";
pub const REGION: &str = "us-east-1";

/// A stack, as a test can change it.
#[derive(Debug, Clone)]
pub struct StackState {
    pub status: String,
    pub parameters: BTreeMap<String, String>,
    /// What the functions run with, by their names in the template.
    pub latest: BTreeMap<String, Value>,
    pub live: BTreeMap<String, Value>,
    /// The share of the requests that goes to another version, by function.
    pub shares: BTreeMap<String, f64>,
    /// The states of the alarms by name.
    pub alarms: BTreeMap<String, String>,
    /// `None` before anybody subscribed; otherwise whether it is confirmed.
    pub subscription: Option<bool>,
    pub rule_state: String,
    pub unprotected: BTreeSet<String>,
    pub not_recoverable: BTreeSet<String>,
    pub without_time_to_live: bool,
    /// Operations that the credentials do not allow.
    pub denied: BTreeSet<String>,
    /// Operations that are never answered.
    pub stalled: BTreeSet<String>,
    /// What the service asks of every request that no distribution has passed on.
    pub origin_secret: Option<String>,
    /// Every operation that was called, as policies name it.
    pub called: BTreeSet<String>,
    base_url: String,
    dynamodb: String,
}

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

impl StackState {
    fn of_template(dynamodb: String) -> Self {
        let template: Yaml = yaml_serde::from_str(template::TEXT).unwrap();
        let declared = template["Parameters"].as_mapping().unwrap().iter();
        let parameters: BTreeMap<String, String> =
            declared.map(|(name, parameter)| (text(name), scalar(&parameter["Default"]))).collect();
        let configurations = |version: &str| {
            let functions = functions().into_iter();
            functions
                .map(|function| {
                    let (globals, own) = (&template["Globals"]["Function"], &function.properties);
                    let configuration = configuration(version, globals, own, &parameters);
                    (function.resource, configuration)
                })
                .collect()
        };
        let alarms = resources_of_type("AWS::CloudWatch::Alarm").into_iter();
        Self {
            status: "UPDATE_COMPLETE".to_owned(),
            latest: configurations("$LATEST"),
            live: configurations("7"),
            shares: BTreeMap::new(),
            alarms: alarms.map(|(name, _)| (physical(name), "OK".to_owned())).collect(),
            subscription: Some(true),
            rule_state: "ENABLED".to_owned(),
            unprotected: BTreeSet::new(),
            not_recoverable: BTreeSet::new(),
            without_time_to_live: false,
            denied: BTreeSet::new(),
            stalled: BTreeSet::new(),
            origin_secret: None,
            called: BTreeSet::new(),
            parameters,
            base_url: String::new(),
            dynamodb,
        }
    }

    /// Has the service ask for a secret, as one behind a distribution does.
    pub fn set_origin_secret(&mut self, secret: &str) {
        self.origin_secret = Some(secret.to_owned());
        for configuration in self.live.values_mut().chain(self.latest.values_mut()) {
            configuration["Environment"]["Variables"]["ORIGIN_SECRET"] = secret.into();
        }
    }

    /// Sets a variable of the version that clients reach.
    pub fn set_live(&mut self, function: &str, variable: &str, value: &str) {
        self.live.get_mut(function).unwrap()["Environment"]["Variables"][variable] = value.into();
    }

    fn stack(&self) -> String {
        let mut parameters = String::new();
        for (name, value) in &self.parameters {
            let pair = format!(
                "<ParameterKey>{name}</ParameterKey><ParameterValue>{value}</ParameterValue>"
            );
            write!(parameters, "<member>{pair}</member>").unwrap();
        }
        let (status, base_url) = (&self.status, &self.base_url);
        xml(
            "DescribeStacks",
            &format!(
                "<Stacks><member><StackName>{STACK}</StackName><StackStatus>{status}</StackStatus>\
                 <Parameters>{parameters}</Parameters><Outputs><member><OutputKey>BaseUrl</OutputKey>\
                 <OutputValue>{base_url}</OutputValue></member></Outputs></member></Stacks>"
            ),
        )
    }

    fn resources(&self) -> String {
        let mut members = String::new();
        let mut add = |logical: &str, physical: &str, kind: &str| {
            write!(
                members,
                "<member><LogicalResourceId>{logical}</LogicalResourceId>\
                 <PhysicalResourceId>{physical}</PhysicalResourceId>\
                 <ResourceType>{kind}</ResourceType></member>"
            )
            .unwrap();
        };
        for function in functions() {
            add(&function.resource, &physical(&function.resource), "AWS::Lambda::Function");
        }
        for (logical, table) in resources_of_type("AWS::DynamoDB::Table") {
            let name = text(&table["Properties"]["TableName"]);
            add(logical, &name.replace("${AWS::StackName}", STACK), "AWS::DynamoDB::Table");
        }
        for (logical, _) in resources_of_type("AWS::CloudWatch::Alarm") {
            add(logical, &physical(logical), "AWS::CloudWatch::Alarm");
        }
        add("AlarmTopic", "arn:aws:sns:us-east-1:1:topic", "AWS::SNS::Topic");
        add("IngestFunctionScheduled", "numbers-scheduled", "AWS::Events::Rule");
        xml(
            "ListStackResources",
            &format!("<StackResourceSummaries>{members}</StackResourceSummaries>"),
        )
    }

    fn alarms(&self) -> String {
        let mut members = String::new();
        for (name, state) in &self.alarms {
            write!(
                members,
                "<member><AlarmName>{name}</AlarmName><StateValue>{state}</StateValue>\
                 <StateReason>Threshold Crossed</StateReason><ActionsEnabled>true</ActionsEnabled>\
                 <AlarmActions><member>arn:aws:sns:us-east-1:1:topic</member></AlarmActions></member>"
            )
            .unwrap();
        }
        xml("DescribeAlarms", &format!("<MetricAlarms>{members}</MetricAlarms>"))
    }

    fn subscriptions(&self) -> String {
        let subscription = self.subscription.map(|is_confirmed| {
            let arn =
                if is_confirmed { "arn:aws:sns:us-east-1:1:t:1" } else { "PendingConfirmation" };
            format!(
                "<member><SubscriptionArn>{arn}</SubscriptionArn>\
                 <Endpoint>oncall@example.com</Endpoint></member>"
            )
        });
        let members = subscription.unwrap_or_default();
        xml("ListSubscriptionsByTopic", &format!("<Subscriptions>{members}</Subscriptions>"))
    }

    fn rule(&self) -> Value {
        let schedule = &self.parameters["ImportSchedule"];
        json!({ "Name": "numbers-scheduled", "State": self.rule_state, "ScheduleExpression": schedule })
    }

    fn lambda(&self, uri: &Uri) -> Value {
        let mut segments = uri.path().split('/').skip(3);
        let physical = segments.next().unwrap();
        let function = physical.trim_start_matches("numbers-").trim_end_matches("-1A2B3C");
        if segments.next() == Some("aliases") {
            let share = self.shares.get(function);
            let weights = share.map(|share| json!({ "AdditionalVersionWeights": { "8": share } }));
            return json!({ "Name": "live", "FunctionVersion": "7", "RoutingConfig": weights });
        }
        let is_live = uri.query() == Some("Qualifier=live");
        if is_live { self.live[function].clone() } else { self.latest[function].clone() }
    }

    /// What only AWS has in the answer to an operation on a table.
    fn add_aws(&self, operation: &str, table: &str, answer: &mut Value) {
        match operation {
            "DescribeTable" if answer["Table"].is_object() => {
                answer["Table"]["SSEDescription"] =
                    json!({ "Status": "ENABLED", "SSEType": "KMS" });
                let is_protected = !self.unprotected.contains(table);
                answer["Table"]["DeletionProtectionEnabled"] = is_protected.into();
            }
            "DescribeContinuousBackups" => {
                let is_off = self.not_recoverable.contains(table);
                let status = if is_off { "DISABLED" } else { "ENABLED" };
                *answer = json!({ "ContinuousBackupsDescription": {
                    "ContinuousBackupsStatus": "ENABLED",
                    "PointInTimeRecoveryDescription": { "PointInTimeRecoveryStatus": status },
                } });
            }
            "DescribeTimeToLive" => {
                let has_one = table == "numbers-usage" && !self.without_time_to_live;
                *answer = json!({ "TimeToLiveDescription": if has_one {
                    json!({ "TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at" })
                } else {
                    json!({ "TimeToLiveStatus": "DISABLED" })
                } });
            }
            _ => (),
        }
    }
}

/// The name that CloudFormation gives to a resource that has none in the template.
fn physical(logical: &str) -> String {
    format!("{STACK}-{logical}-1A2B3C")
}

fn scalar(value: &Yaml) -> String {
    match value {
        Yaml::Number(number) => number.to_string(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// The configuration that a function gets from the template.
fn configuration(
    version: &str,
    globals: &Yaml,
    own: &Yaml,
    parameters: &BTreeMap<String, String>,
) -> Value {
    let resolved = |value: &Yaml| match value {
        Yaml::Tagged(reference) => {
            let name = text(&reference.value);
            let table = resources_of_type("AWS::DynamoDB::Table")
                .into_iter()
                .find(|(logical, _)| *logical == name)
                .map(|(_, table)| text(&table["Properties"]["TableName"]));
            let table = table.map(|name| name.replace("${AWS::StackName}", STACK));
            let parameter = parameters.get(&name).cloned();
            table.or(parameter).unwrap_or_else(|| "computed".to_owned())
        }
        plain => scalar(plain),
    };
    let property = |name: &str| if own[name].is_null() { &globals[name] } else { &own[name] };
    let number = |name: &str| property(name).as_u64();
    let mut variables = BTreeMap::new();
    for holder in [globals, own] {
        for (name, value) in holder["Environment"]["Variables"].as_mapping().into_iter().flatten() {
            variables.insert(text(name), resolved(value));
        }
    }
    json!({
        "Version": version,
        "CodeSha256": "code",
        "Runtime": resolved(property("Runtime")),
        "Architectures": [resolved(&property("Architectures")[0])],
        "MemorySize": number("MemorySize"),
        "Timeout": number("Timeout"),
        "TracingConfig": { "Mode": resolved(property("Tracing")) },
        "Environment": { "Variables": variables },
    })
}

fn xml(action: &str, result: &str) -> String {
    format!(
        "<{action}Response xmlns=\"http://example.amazonaws.com/doc/\"><{action}Result>{result}\
         </{action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{action}Response>"
    )
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
    pairs.map(|(name, value)| (name.to_owned(), template::decoded(value))).collect()
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
