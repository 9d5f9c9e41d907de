//! The probe as deployed: its reports to CodeDeploy about new versions, and its scheduled check every five
//! minutes.

use std::{
    collections::BTreeSet,
    env, fs, mem,
    path::PathBuf,
    time::{Duration, Instant},
};

use ingest::Options;
use lambda_http::{lambda_runtime, service_fn};
use serde_json::{Value, json};
use shared::state::App;
use tempfile::TempDir;
use tnr::{
    functions,
    operate::costs::measures::{PROBE_METRICS, PROBE_REQUESTS, PUBLIC_PROBE_REQUESTS},
};

use crate::support::{
    api_events::events_folder,
    aws::{Aws, Misbehavior, version_arn},
    imports::{delete_chunk, import},
    lambda_runtime::LambdaFunction,
    metrics::{assert_has_alarm_metrics, metrics_in},
    processes::lambda_process,
    service::{KEY, Service},
    small_reports::ReportSet,
    template::{route_for, routes},
};

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
    aws: Aws,
    function: LambdaFunction,
    output: PathBuf,
    _folder: TempDir,
}

impl Probe {
    /// A probe for functions on a service's database.
    async fn new(service: &Service) -> Self {
        Self::with_versions(service, |function| Some(version_arn(function))).await
    }

    /// A probe with each function's version in its environment.
    async fn with_versions(service: &Service, version: fn(&str) -> Option<String>) -> Self {
        let aws = Aws::with_functions(app_on(service).await).await;
        let folder = TempDir::new().unwrap();
        let output = folder.path().join("output");
        let process = concat!(module_path!(), "::probe_process");
        let mut command = lambda_process(process, &output);
        command.env("AWS_ENDPOINT_URL", &aws.endpoint);
        for (function, _) in functions() {
            if let Some(version) = version(function) {
                command.env(format!("{}_VERSION", function.to_uppercase()), version);
            }
        }
        let function = LambdaFunction::start(command).await;
        Self { aws, function, output, _folder: folder }
    }

    /// Checks new versions. Returns the status reported to CodeDeploy, and the probe's response.
    async fn check_new_version(&mut self) -> (String, Value) {
        let response = self.function.invoke(&sample_event("deployment")).await;
        let reports = mem::take(&mut self.aws.state().reports);
        assert_eq!(reports.len(), 1, "{reports:?}");
        let event = sample_event("deployment");
        let id = &event["LifecycleEventHookExecutionId"];
        assert_eq!(reports[0]["deploymentId"], event["DeploymentId"]);
        assert_eq!(reports[0]["lifecycleEventHookExecutionId"], *id);
        (reports[0]["status"].as_str().unwrap().to_owned(), response)
    }

    /// The probe's log lines with this message.
    fn lines(&self, message: &str) -> Vec<Value> {
        let output = fs::read_to_string(&self.output).unwrap();
        let lines = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["message"] == message).collect()
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
    let mut probe = Probe::new(&service).await;
    let (status, findings) = probe.check_new_version().await;
    assert_eq!(status, "Succeeded", "{findings}");
    assert_eq!(findings["checks"], 11);

    let invoked = mem::take(&mut probe.aws.state().invocations);
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
    // The line has no metrics, since it is not about the live versions.
    let line = &probe.lines("new versions were checked")[0];
    assert_eq!((&line["level"], &line["_aws"]), (&json!("INFO"), &Value::Null));
}

#[tokio::test]
async fn new_versions_with_wrong_responses_fail() {
    let service = Service::with_sample().await;
    let mut probe = Probe::new(&service).await;
    for (function, misbehavior, expected) in [
        ("npa", Misbehavior::InternalError, "the status must be 200, got 500 (internal_error)"),
        ("carriers", Misbehavior::Crashed, "the function failed (Unhandled): RequestId: 1 Error"),
        ("npa", Misbehavior::WrongData, "/exchanges/0/ocn must be"),
        ("search", Misbehavior::Silent, "no response within 16s"),
    ] {
        let started = Instant::now();
        probe.aws.state().misbehaving = Some((function, misbehavior));
        let (status, findings) = probe.check_new_version().await;
        assert_eq!(status, "Failed", "{function} {misbehavior:?}");
        assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
        assert!(findings.to_string().contains(expected), "{findings}");
        let is_named = |check: &str| check.starts_with(&format!("{function} "));
        assert!(failed_checks(&findings).iter().any(|check| is_named(check)), "{findings}");
    }
    probe.aws.state().misbehaving = None;
    // A new account has ten concurrent executions, and a deployment's hooks use seven. They are retried, as are reports.
    probe.aws.state().throttled_calls = 3;
    probe.aws.state().failing_reports = 2;
    assert_eq!(probe.check_new_version().await.0, "Succeeded");
    let lines = probe.lines("new versions were checked");
    assert_eq!(lines.iter().filter(|line| line["level"] == "ERROR").count(), 4);
}

#[tokio::test]
async fn new_versions_must_read_the_current_data_if_there_is_any() {
    let [empty, service] = [Service::empty().await, Service::with_small_reports().await];
    let mut probe = Probe::new(&empty).await;
    let (status, findings) = probe.check_new_version().await;
    assert_eq!((status.as_str(), &findings["checks"]), ("Succeeded", &json!(12)), "{findings}");
    let findings = probe.function.invoke(&json!({ "base_url": empty.base_url })).await;
    assert_eq!((failed_checks(&findings), &findings["checks"]), (vec![], &json!(13)), "{findings}");
    let line = &probe.lines("the service was checked")[0];
    let expected = ["ChecksFailed", "ChecksMade", "NoData"].map(str::to_owned);
    assert_eq!(metrics_in(line), expected.into(), "DataAge is missing without data");
    assert_eq!(line["NoData"], 1.0);

    let without_data = probe.aws.replace_app(app_on(&service).await);
    probe.aws.state().new_version_app = Some(without_data);
    let (status, findings) = probe.check_new_version().await;
    let expected = vec!["status: the live version's data"];
    assert_eq!((status.as_str(), failed_checks(&findings)), ("Failed", expected));

    let store = service.database.store();
    import(&store, &ReportSet::second(), Options::default()).await.unwrap();
    let current = store.manifest().await.unwrap().unwrap().current;
    delete_chunk(&store, &current).await;
    probe.aws.state().new_version_app = Some(app_on(&service).await);
    let (status, findings) = probe.check_new_version().await;
    assert_eq!((&*status, failed_checks(&findings)), ("Failed", vec!["status /v1/health"]));
}

/// Without a report, CodeDeploy would wait for an hour.
#[tokio::test]
async fn a_broken_probe_reports_failure_to_codedeploy() {
    let service = Service::empty().await;
    let without_npa = |function: &str| (function != "npa").then(|| version_arn(function));
    let mut probe = Probe::with_versions(&service, without_npa).await;
    let (status, error) = probe.check_new_version().await;
    assert_eq!(status, "Failed");
    let expected = "the environment variable NPA_VERSION must be the ARN of a function version";
    assert!(error["errorMessage"].as_str().unwrap().starts_with(expected), "{error}");
}

#[tokio::test]
async fn scheduled_probes_check_the_live_versions_and_the_api() {
    let service = Service::with_sample().await;
    let mut probe = Probe::new(&service).await;
    let mut scheduled = sample_event("schedule");
    scheduled["base_url"] = json!(format!("{}/", service.base_url));
    let findings = probe.function.invoke(&scheduled).await;
    assert_eq!(failed_checks(&findings), [""; 0], "{findings}");
    let invoked = mem::take(&mut probe.aws.state().invocations);
    assert!(invoked.iter().all(|invoked| invoked.qualifier == "live"), "{invoked:?}");
    // The costs state the number of these requests, and how many API Gateway bills.
    assert_eq!(invoked.len() as u32, PROBE_REQUESTS - PUBLIC_PROBE_REQUESTS, "{invoked:?}");
    assert_eq!(findings["checks"], PROBE_REQUESTS);
    assert!(probe.aws.state().reports.is_empty());

    probe.aws.state().misbehaving = Some(("npa", Misbehavior::InternalError));
    let findings = probe.function.invoke(&scheduled).await;
    assert_eq!(failed_checks(&findings), ["npa /v1/npa/{npa}/nxx/{nxx}"]);

    let unreachable = probe.function.invoke(&json!({ "base_url": "http://127.0.0.1:1" })).await;
    let api_checks = ["API /v1/health", "API /v1/stats", "API /v1/carriers with an unknown key"];
    assert!(failed_checks(&unreachable).ends_with(&api_checks), "{unreachable}");

    let lines = probe.lines("the service was checked");
    for (line, failed) in lines.iter().zip([0.0, 1.0]) {
        assert_eq!(
            (&line["ChecksMade"], &line["ChecksFailed"]),
            (&json!(f64::from(PROBE_REQUESTS)), &json!(failed))
        );
        // The sample was imported when these tests began.
        assert!((0.0..1.0).contains(&line["DataAge"].as_f64().unwrap()), "{line}");
    }
    assert_eq!(metrics_in(&lines[1]).len() as u32, PROBE_METRICS);
    assert_has_alarm_metrics(&lines[1], "ProbeFunction");
    assert!(!fs::read_to_string(&probe.output).unwrap().contains(KEY));
}
