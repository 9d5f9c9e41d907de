//! Tests the probe as deployed: its reports to CodeDeploy about new versions, and its scheduled checks every five
//! minutes.

use std::{
    collections::BTreeSet,
    env, fs, mem,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use ingest::Options;
use lambda_http::{lambda_runtime, service_fn};
use serde_json::{Value, json};
use shared::state::App;
use tempfile::NamedTempFile;
use tnr::{functions, operate::costs::measure};

use crate::support::{
    api_events::events_folder,
    endpoints::routes_for,
    function_calls::{lambda_process, log_lines, response_to},
    imports::{delete_chunk, import},
    lambda_runtime::LambdaFunction,
    listening::serve,
    service::{KEY, Service},
    small_reports::ReportSet,
    template::{assert_has_alarm_metrics, metrics_in, route_for, routes},
};

/// A function's response instead of its payload; `None` if it never responds.
type Misbehavior = fn(String) -> Option<String>;

const INTERNAL_ERROR: Misbehavior = |_| {
    let body = json!({ "error": "internal_error", "message": "x" }).to_string();
    Some(json!({ "statusCode": 500, "headers": {}, "body": body }).to_string())
};

/// The response of Lambda if a function exits before it responds.
const CRASH: &str =
    r#"{"errorType":"Runtime.ExitError","errorMessage":"RequestId: 1 Error: Runtime exited"}"#;

#[derive(Debug)]
struct Invocation {
    function: String,
    /// The version or alias.
    qualifier: String,
    event: Value,
}

/// A stand-in for Lambda and CodeDeploy: settings that tests can change, and the calls received.
#[derive(Default)]
struct Aws {
    live: Option<App>,
    new_version: Option<App>,
    misbehaving: Option<(&'static str, Misbehavior)>,
    /// The number of CodeDeploy calls that will still fail.
    failing_reports: u32,
    /// The number of invocations that will still be throttled.
    throttled_calls: u32,
    invocations: Vec<Invocation>,
    reports: Vec<Value>,
}

type SharedAws = State<Arc<Mutex<Aws>>>;

fn assert_signed_for(headers: &HeaderMap, service: &str) {
    let authorization = headers[header::AUTHORIZATION].to_str().unwrap();
    let scope = format!("/us-east-1/{service}/aws4_request");
    assert!(authorization.contains(&scope), "{authorization}");
}

async fn invoke(
    State(aws): SharedAws,
    Path(arn): Path<String>,
    headers: HeaderMap,
    Json(event): Json<Value>,
) -> Response {
    assert_signed_for(&headers, "lambda");
    let (rest, qualifier) = arn.rsplit_once(':').unwrap();
    let function = rest.rsplit_once("function:numbers-").unwrap().1.to_owned();
    let routes = routes_for(&function);
    let (misbehavior, app) = {
        let mut aws = aws.lock().unwrap();
        if aws.throttled_calls > 0 {
            aws.throttled_calls -= 1;
            let message = json!({ "Reason": "ConcurrentInvocationLimitExceeded", "Type": "User" });
            return (StatusCode::TOO_MANY_REQUESTS, message.to_string()).into_response();
        }
        let app = if qualifier == "live" { &aws.live } else { &aws.new_version };
        let app = app.clone().unwrap();
        let misbehavior = aws.misbehaving.filter(|(name, _)| *name == function);
        let qualifier = qualifier.to_owned();
        aws.invocations.push(Invocation { function, qualifier, event: event.clone() });
        (misbehavior.map(|(_, misbehavior)| misbehavior), app)
    };
    let payload = response_to(routes, app, &event).await.payload().to_string();
    let Some(payload) = misbehavior.map_or(Some(payload.clone()), |it| it(payload)) else {
        return std::future::pending().await;
    };
    let error = (payload == CRASH).then_some([("x-amz-function-error", "Unhandled")]);
    (error, payload).into_response()
}

async fn receive_report(State(aws): SharedAws, headers: HeaderMap, body: Bytes) -> Response {
    assert_signed_for(&headers, "codedeploy");
    let operation = "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus";
    assert_eq!(headers["x-amz-target"], operation);
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    let mut aws = aws.lock().unwrap();
    if aws.failing_reports > 0 {
        aws.failing_reports -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    aws.reports.push(serde_json::from_slice(&body).unwrap());
    "{}".into_response()
}

/// The process that the tests start: the probe as deployed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "other tests start it as a separate process"]
async fn probe_process() {
    if env::var_os("AWS_LAMBDA_RUNTIME_API").is_some() {
        lambda_runtime::run(service_fn(probe::handle)).await.unwrap();
    }
}

async fn app_on(service: &Service) -> App {
    App::with_store(service.database.serving_store().await)
}

/// A running probe, and the services that it calls.
struct Probe {
    aws: Arc<Mutex<Aws>>,
    function: LambdaFunction,
    log: NamedTempFile,
}

impl Probe {
    /// A probe for functions on a service's database.
    async fn new(service: &Service) -> Self {
        Self::with_functions(service, |_| true).await
    }

    /// A probe whose environment has the versions of some functions.
    async fn with_functions(service: &Service, is_known: fn(&str) -> bool) -> Self {
        let app = Some(app_on(service).await);
        let aws =
            Arc::new(Mutex::new(Aws { live: app.clone(), new_version: app, ..Aws::default() }));
        let router = Router::new()
            .route("/2015-03-31/functions/{arn}/invocations", post(invoke))
            .route("/", post(receive_report))
            .with_state(Arc::clone(&aws));
        let (mut command, log) = lambda_process(concat!(module_path!(), "::probe_process"));
        command.env("AWS_ENDPOINT_URL", serve(router).await);
        for (function, _) in functions().into_iter().filter(|(function, _)| is_known(function)) {
            let arn =
                format!("arn:aws:lambda:us-east-1:123456789012:function:numbers-{function}:7");
            command.env(format!("{}_VERSION", function.to_uppercase()), arn);
        }
        let function = LambdaFunction::start(command).await;
        Self { aws, function, log }
    }

    fn aws(&self) -> MutexGuard<'_, Aws> {
        self.aws.lock().unwrap()
    }

    /// Checks new versions. Returns the status reported to CodeDeploy, and the probe's response.
    async fn check_new_version(&self) -> (String, Value) {
        let event = sample_event("deployment");
        let response = self.function.invoke(&event).await;
        let reports = mem::take(&mut self.aws().reports);
        let [report] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!(report["deploymentId"], event["DeploymentId"]);
        let id = &event["LifecycleEventHookExecutionId"];
        assert_eq!(report["lifecycleEventHookExecutionId"], *id);
        (report["status"].as_str().unwrap().to_owned(), response)
    }
}

fn sample_event(name: &str) -> Value {
    let text = fs::read_to_string(events_folder().join(format!("probe/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn failed_checks(findings: &Value) -> Vec<&str> {
    let failures = findings["failures"].as_array().unwrap_or_else(|| panic!("{findings}"));
    failures.iter().map(|failure| failure["check"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn new_versions_with_the_same_responses_pass() {
    let service = Service::with_sample().await;
    let probe = Probe::new(&service).await;
    let (status, findings) = probe.check_new_version().await;
    assert_eq!(status, "Succeeded", "{findings}");
    assert_eq!(findings["checks"], 11);

    let invoked = mem::take(&mut probe.aws().invocations);
    assert!(invoked.iter().all(|invoked| invoked.qualifier == "7"), "{invoked:?}");
    let called: BTreeSet<_> = invoked.iter().map(|invoked| invoked.function.as_str()).collect();
    assert_eq!(called, functions().into_iter().map(|(name, _)| name).collect(), "every function");
    for invoked in &invoked {
        let path = invoked.event["rawPath"].as_str().unwrap();
        let (route, parameters) = route_for(path);
        assert_eq!(invoked.event["routeKey"], format!("ANY {route}"));
        assert_eq!(invoked.event["pathParameters"], Value::from(parameters));
        let deployed = routes().into_iter().find(|known| known.path == route).unwrap();
        assert_eq!(deployed.function, invoked.function, "{path}");
        assert!(!invoked.event.to_string().contains("tnr_live_"), "the probe has no key");
    }
    // The line has no metrics, because it is not about the live versions.
    let line = &log_lines(&probe.log, "new versions were checked")[0];
    assert_eq!((&line["level"], &line["_aws"]), (&json!("INFO"), &Value::Null));
}

#[tokio::test]
async fn new_versions_with_wrong_responses_fail() {
    let service = Service::with_sample().await;
    let probe = Probe::new(&service).await;
    let misbehaviors: [(_, Misbehavior, _); 4] = [
        ("npa", INTERNAL_ERROR, "the status must be 200, got 500 (internal_error)"),
        (
            "carriers",
            |_| Some(CRASH.to_owned()),
            "the function failed (Unhandled): RequestId: 1 Error",
        ),
        (
            "npa",
            |payload| Some(payload.replace("\\\"ocn\\\":", "\\\"x\\\":")),
            "/exchanges/0/ocn must be",
        ),
        ("search", |_| None, "no response within 16s"),
    ];
    for (function, misbehavior, expected) in misbehaviors {
        let started = Instant::now();
        probe.aws().misbehaving = Some((function, misbehavior));
        let (status, findings) = probe.check_new_version().await;
        assert_eq!(status, "Failed", "{function}: {expected}");
        assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
        assert!(findings.to_string().contains(expected), "{findings}");
        let is_named = |check: &str| check.starts_with(&format!("{function} "));
        assert!(failed_checks(&findings).iter().any(|check| is_named(check)), "{findings}");
    }
    probe.aws().misbehaving = None;
    // A new account has ten concurrent executions, and a deployment's hooks use seven. Calls and reports are retried.
    probe.aws().throttled_calls = 3;
    probe.aws().failing_reports = 2;
    assert_eq!(probe.check_new_version().await.0, "Succeeded");
    let lines = log_lines(&probe.log, "new versions were checked");
    assert_eq!(lines.iter().filter(|line| line["level"] == "ERROR").count(), 4);
}

#[tokio::test]
async fn new_versions_must_read_the_current_data_if_there_is_any() {
    let [empty, service] = [Service::empty().await, Service::with_small_reports().await];
    let probe = Probe::new(&empty).await;
    let (status, findings) = probe.check_new_version().await;
    assert_eq!((status.as_str(), &findings["checks"]), ("Succeeded", &json!(12)), "{findings}");
    let findings = probe.function.invoke(&json!({ "base_url": empty.base_url })).await;
    assert_eq!((failed_checks(&findings), &findings["checks"]), (vec![], &json!(13)), "{findings}");
    let line = &log_lines(&probe.log, "the service was checked")[0];
    let expected = ["ChecksFailed", "ChecksMade", "NoData"].map(str::to_owned);
    assert_eq!(metrics_in(line), expected.into(), "DataAge is missing without data");
    assert_eq!(line["NoData"], 1.0);

    probe.aws().live = Some(app_on(&service).await);
    let (status, findings) = probe.check_new_version().await;
    let expected = vec!["status: the live version's data"];
    assert_eq!((status.as_str(), failed_checks(&findings)), ("Failed", expected));

    let store = service.database.store();
    import(&store, &ReportSet::second(), Options::default()).await.unwrap();
    let current = store.manifest().await.unwrap().unwrap().current;
    delete_chunk(&store, &current.version).await;
    probe.aws().new_version = Some(app_on(&service).await);
    let (status, findings) = probe.check_new_version().await;
    assert_eq!((&*status, failed_checks(&findings)), ("Failed", vec!["status /v1/health"]));
}

/// Without a report, CodeDeploy would wait for an hour.
#[tokio::test]
async fn a_broken_probe_reports_failure_to_codedeploy() {
    let service = Service::empty().await;
    let probe = Probe::with_functions(&service, |function| function != "npa").await;
    let (status, error) = probe.check_new_version().await;
    assert_eq!(status, "Failed");
    let expected = "the environment variable NPA_VERSION must be the ARN of a function version";
    assert!(error["errorMessage"].as_str().unwrap().starts_with(expected), "{error}");
}

#[tokio::test]
async fn scheduled_probes_check_the_live_versions_and_the_api() {
    let service = Service::with_sample().await;
    let probe = Probe::new(&service).await;
    let mut scheduled = sample_event("schedule");
    scheduled["base_url"] = json!(format!("{}/", service.base_url));
    let findings = probe.function.invoke(&scheduled).await;
    assert_eq!(failed_checks(&findings), [""; 0], "{findings}");
    let invoked = mem::take(&mut probe.aws().invocations);
    assert!(invoked.iter().all(|invoked| invoked.qualifier == "live"), "{invoked:?}");
    // The costs include the number of these requests, and how many API Gateway bills.
    let requests = measure("probe_requests");
    assert_eq!(invoked.len() as f64, requests - measure("public_probe_requests"), "{invoked:?}");
    assert_eq!(findings["checks"].as_f64(), Some(requests));
    assert!(probe.aws().reports.is_empty());

    probe.aws().misbehaving = Some(("npa", INTERNAL_ERROR));
    let findings = probe.function.invoke(&scheduled).await;
    assert_eq!(failed_checks(&findings), ["npa /v1/npa/{npa}/nxx/{nxx}"]);

    let unreachable = probe.function.invoke(&json!({ "base_url": "http://127.0.0.1:1" })).await;
    let api_checks = ["API /v1/health", "API /v1/stats", "API /v1/carriers with an unknown key"];
    assert!(failed_checks(&unreachable).ends_with(&api_checks), "{unreachable}");

    let lines = log_lines(&probe.log, "the service was checked");
    for (line, failed) in lines.iter().zip([0.0, 1.0]) {
        assert_eq!(
            (&line["ChecksMade"], &line["ChecksFailed"]),
            (&json!(requests), &json!(failed))
        );
        // The sample was imported after the tests started.
        assert!((0.0..1.0).contains(&line["DataAge"].as_f64().unwrap()), "{line}");
    }
    assert_eq!(metrics_in(&lines[1]).len() as f64, measure("probe_metrics"));
    assert_has_alarm_metrics(&lines[1], "ProbeFunction");
    assert!(!fs::read_to_string(&probe.log).unwrap().contains(KEY));
}
