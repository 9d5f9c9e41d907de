//! `tnr doctor`. `.ci/deployment/test_doctor.py` breaks the parts of a stack one by one.

use std::collections::BTreeSet;

use serde_json::Value;
use store::KeyRecord;
use tempfile::TempDir;
use tnr::keys::{random, register};

use crate::support::{
    aws::AwsAccount,
    databases::write_sample_into,
    program::{Server, run, stderr, stdout},
    service::KEY,
};

/// The findings and exit code from `doctor --json`.
struct DoctorOutput {
    code: i32,
    /// Findings as `state group check: message`.
    findings: Vec<String>,
    stderr: String,
}

async fn doctor(account: &AwsAccount, more: &[&str]) -> DoctorOutput {
    let arguments = [&["doctor", "--stack", "numbers", "--json"], more].concat();
    let output = account.run(&arguments).await;
    let stderr = stderr(&output);
    let examination: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let groups = examination["groups"].as_array().unwrap_or_else(|| panic!("{stderr}"));
    let findings = groups.iter().flat_map(|group| {
        let findings = group["findings"].as_array().unwrap().iter();
        findings.map(move |finding| {
            let text = |name: &str| finding[name].as_str().unwrap();
            let group = group["name"].as_str().unwrap();
            format!("{} {group} {}: {}", text("state"), text("check"), text("message"))
        })
    });
    let (code, findings) = (output.status.code().unwrap(), findings.collect());
    DoctorOutput { code, findings, stderr }
}

impl DoctorOutput {
    /// The findings to act on. On a busy machine, the database may also be too slow for the health check.
    fn not_ok(&self) -> Vec<&str> {
        let is_ok = |line: &&str| {
            line.starts_with("ok ")
                || line.starts_with("note ")
                || line.contains("/health: /database is \"error\"")
        };
        self.findings.iter().map(String::as_str).filter(|line| !is_ok(line)).collect()
    }

    fn assert_only(&self, code: i32, prefix: &str) {
        let not_ok = self.not_ok();
        assert_eq!(not_ok.len(), 1, "expected '{prefix}': {not_ok:#?}");
        assert!(not_ok[0].starts_with(prefix), "expected '{prefix}': {not_ok:#?}");
        assert_eq!(self.code, code, "{}", self.stderr);
    }

    fn assert_has(&self, prefix: &str) {
        let has = self.findings.iter().any(|line| line.starts_with(prefix));
        assert!(has, "expected '{prefix}': {:#?}", self.findings);
    }
}

#[tokio::test]
async fn missing_permissions_and_timeouts_are_findings_and_other_checks_still_run() {
    let account = AwsAccount::new().await;
    for (operation, expected) in [
        ("DescribeAlarms", "unknown alarms alarms: could not be checked; a permission is missing"),
        ("ListSubscriptionsByTopic", "unknown alarms subscriptions: could not be checked"),
        ("DescribeContinuousBackups", "unknown tables numbers-carriers: could not be checked"),
        ("DescribeStacks", "unknown stack stack: could not be checked"),
    ] {
        account.aws.state().denied = [operation].into();
        let found = doctor(&account, &[]).await;
        found.assert_has(expected);
        let not_ok = found.not_ok();
        assert!(not_ok.iter().all(|line| line.starts_with("unknown ")), "{not_ok:#?}");
        assert!(not_ok[0].contains("not authorized to perform"), "{not_ok:#?}");
        found.assert_has("ok keys keys");
        assert_eq!(found.code, 1, "{operation}");
    }
    account.aws.state().denied.clear();
    account.aws.state().stalled = ["DescribeAlarms"].into();
    let found = doctor(&account, &["--timeout", "10"]).await;
    found.assert_only(1, "unknown alarms alarms: could not be checked; it took longer than 10s");
}

#[tokio::test]
async fn doctor_reports_tables_that_are_not_active() {
    let account = AwsAccount::new().await;
    account.aws.state().table_status = Some("UPDATING");
    let found = doctor(&account, &["--key", KEY]).await;
    found.assert_has("warning tables numbers-usage: its status is 'UPDATING'");
    assert_eq!(found.code, 1, "{}", found.stderr);
}

#[tokio::test]
async fn creating_the_first_key_protects_the_stacks_tables() {
    let account = AwsAccount::new().await;
    let unprotect = || {
        account.aws.state().unprotected =
            ["numbers-api_keys", "numbers-usage"].map(str::to_owned).into();
    };
    unprotect();
    let create = &["keys", "create", "--name", "first", "--stack", "numbers"];
    let created = account.run(create).await;
    assert!(stdout(&created).starts_with("tnr_live_"));
    let message = "Enabled deletion protection on numbers-api_keys, numbers-usage.";
    assert!(stderr(&created).contains(message), "{}", stderr(&created));
    assert!(account.aws.state().unprotected.is_empty());
    assert!(!stderr(&account.run(create).await).contains("protection"), "it is already on");

    unprotect();
    account.aws.state().denied = ["UpdateTable"].into();
    let created = account.run(create).await;
    assert!(stdout(&created).starts_with("tnr_live_"), "the key is created anyway");
    let warning = "warning: cannot enable deletion protection on table numbers-api_keys";
    assert!(stderr(&created).contains(warning), "{}", stderr(&created));
}

#[tokio::test]
async fn doctor_examines_a_local_database_and_its_service() {
    let folder = TempDir::new().unwrap();
    let nothing = run(&folder, &["doctor"]);
    assert_eq!(nothing.status.code(), Some(3));
    assert!(stderr(&nothing).contains("' has no database"), "{}", stderr(&nothing));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "doctor creates nothing");

    write_sample_into(folder.path());
    let without_key = run(&folder, &["doctor"]);
    assert_eq!(without_key.status.code(), Some(2));
    let text = String::from_utf8_lossy(&without_key.stdout).into_owned();
    assert!(text.contains("  problem  keys: no key works"), "{text}");
    assert!(stderr(&without_key).contains("1 problem and 0 warnings"), "{}", stderr(&without_key));

    let server = Server::on(&folder, &[]).await;
    let (url, key) = (server.base_url.clone(), server.key.clone());
    let options = ["doctor", "--url", &url, "--key", &key];
    let healthy = stdout(&run(&folder, &options));
    assert!(healthy.contains("GET /v1/search with the key: 200 in"), "{healthy}");
    server.kill();
    let down = run(&folder, &options);
    assert_eq!(down.status.code(), Some(2));
    let text = String::from_utf8_lossy(&down.stdout).into_owned();
    assert!(text.contains(": the service is not responding; "), "{text}");
}

#[tokio::test]
async fn a_stacks_endpoints_are_checked_at_its_base_url() {
    let account = AwsAccount::new().await;
    let found = doctor(&account, &["--key", KEY]).await;
    found.assert_has("ok endpoints GET /v1/search with the key: 200 in");
    assert_eq!(found.not_ok(), Vec::<&str>::new(), "{}", found.stderr);
}

#[tokio::test]
async fn doctor_needs_exactly_the_documented_permissions() {
    let operations = include_str!("../../../../../docs/OPERATIONS.md");
    let section = operations.split_once("## Examine a deployment").unwrap().1;
    let policy = section.split_once("```json").unwrap().1.split_once("```").unwrap().0;
    let policy: Value = serde_json::from_str(policy).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let allowed: BTreeSet<&str> = statements
        .flat_map(|statement| statement["Action"].as_array().unwrap())
        .map(|action| action.as_str().unwrap())
        .collect();

    let account = AwsAccount::new().await;
    let expired = random(shared::auth::KeyKind::Live).unwrap();
    register(&account.store, &expired, "a client").await.unwrap();
    let record = account.store.api_key(&expired.hash()).await.unwrap().unwrap();
    let an_hour_ago = numbering::time::this_second() - jiff::SignedDuration::from_hours(1);
    let record = KeyRecord { expires_at: Some(an_hour_ago), ..record };
    account.store.put_api_key(&record).await.unwrap();
    doctor(&account, &["--key", KEY]).await;
    let called = account.aws.state().called.clone();
    assert_eq!(called.iter().map(String::as_str).collect::<BTreeSet<_>>(), allowed);
}
