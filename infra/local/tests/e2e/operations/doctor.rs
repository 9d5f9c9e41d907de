//! `doctor` as an operator types it: all is well, then things break one by one.

use std::collections::BTreeSet;

use numbering::records::Version;
use serde_json::Value;
use shared::auth::ApiKey;
use store::{KeyRecord, Manifest, Snapshot};
use tempfile::TempDir;
use tnr::commands::keys::{random, register};

use crate::support::{
    aws_account::AwsAccount,
    aws_stack::StackState,
    databases::write_sample_into,
    program::{Serving, run, stderr, stdout},
    service::KEY,
};

/// What breaks, the exit code, and how the only finding begins.
type Breakage = (fn(&mut StackState), i32, &'static str);

/// What `doctor --json` found, with its exit code.
struct Found {
    code: i32,
    examination: Value,
    stderr: String,
}

async fn doctor(account: &AwsAccount, more: &[&str]) -> Found {
    let arguments = [&["doctor", "--stack", "numbers", "--json"], more].concat();
    let output = account.run(&arguments).await;
    let examination = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Found { code: output.status.code().unwrap(), examination, stderr: stderr(&output) }
}

impl Found {
    /// Every finding that is not right, as `state group check: message`.
    fn not_ok(&self) -> Vec<String> {
        self.lines(|state| state != "ok" && state != "note")
    }

    fn lines(&self, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let groups =
            self.examination["groups"].as_array().unwrap_or_else(|| panic!("{}", self.stderr));
        let findings = groups.iter().flat_map(|group| {
            let findings = group["findings"].as_array().unwrap().iter();
            findings.map(move |finding| (group["name"].as_str().unwrap(), finding))
        });
        findings
            .filter(|(_, finding)| is_meant(finding["state"].as_str().unwrap()))
            .map(|(group, finding)| {
                let text = |name: &str| finding[name].as_str().unwrap();
                format!("{} {group} {}: {}", text("state"), text("check"), text("message"))
            })
            .collect()
    }

    /// Asserts that this is the only finding that is not right, and the exit code. On a busy machine the
    /// database may also be too slow for the health.
    fn assert_only(&self, code: i32, beginning: &str) {
        let slow = "warning endpoints GET /health: the service is 'degraded', its database 'error'";
        let mut not_ok = self.not_ok();
        not_ok.retain(|line| line.starts_with(beginning) || !line.starts_with(slow));
        assert_eq!(not_ok.len(), 1, "expected '{beginning}': {not_ok:#?}");
        assert!(not_ok[0].starts_with(beginning), "expected '{beginning}': {not_ok:#?}");
        assert_eq!(self.code, code, "{}", self.stderr);
    }
}

#[tokio::test]
async fn a_healthy_stack_is_all_ok() {
    let account = AwsAccount::with_stack().await;
    let found = doctor(&account, &["--key", KEY]).await;
    assert_eq!(found.not_ok(), [""; 0], "{}", found.stderr);
    assert_eq!(found.code, 0);
    let all = found.lines(|_| true);
    for expected in [
        "ok stack status: UPDATE_COMPLETE",
        "ok functions FormatFunction: version 7 runs with",
        "ok tables numbers-usage: on demand",
        "ok items items: all",
        "ok schedules IngestFunctionScheduled: enabled; cron(0 9 * * ? *)",
        "ok alarms subscriptions: 1 are told",
        "ok endpoints GET /v1/npa/{npa}/nxx/{nxx} without a key: 401 in",
        "ok endpoints GET /v1/npa/{npa}/nxx/{nxx} with the key: 200 in",
    ] {
        assert!(all.iter().any(|line| line.starts_with(expected)), "{expected}: {all:#?}");
    }
    let table = account.run(&["doctor", "--stack", "numbers"]).await;
    let table = stdout(&table);
    assert!(
        table.starts_with("Stack numbers in us-east-1\n\nstack\n  ok       status: "),
        "{table}"
    );
}

#[tokio::test]
async fn what_breaks_in_a_stack_is_named_with_the_right_exit_code() {
    let account = AwsAccount::with_stack().await;
    let healthy = account.state();
    let broken: [Breakage; 11] = [
        (
            |stack| stack.status = "UPDATE_ROLLBACK_FAILED".to_owned(),
            2,
            "problem stack status: the stack can be neither updated nor used",
        ),
        (
            |stack| drop(stack.parameters.remove("CorsOrigins")),
            1,
            "warning stack parameters: the stack was deployed from the template of another release",
        ),
        (
            |stack| stack.set_live("FormatFunction", "RUST_LOG", "debug"),
            2,
            "problem functions FormatFunction: RUST_LOG is 'debug' instead of 'info' in version 7",
        ),
        (
            |stack| stack.latest.get_mut("IngestFunction").unwrap()["MemorySize"] = 128.into(),
            2,
            "problem functions IngestFunction: MemorySize is '128' instead of '1024'",
        ),
        (
            |stack| stack.not_recoverable = ["numbers-carriers".to_owned()].into(),
            1,
            "warning tables numbers-carriers: point-in-time recovery is off",
        ),
        (
            |stack| stack.not_recoverable = ["numbers-api_keys".to_owned()].into(),
            2,
            "problem tables numbers-api_keys: point-in-time recovery is off",
        ),
        (
            |stack| stack.without_time_to_live = true,
            1,
            "warning tables numbers-usage: its TTL is off instead of by 'expires_at'",
        ),
        (
            |stack| stack.unprotected = ["numbers-api_keys".to_owned()].into(),
            1,
            "warning tables numbers-api_keys: its deletion protection is off",
        ),
        (
            |stack| *stack.alarms.values_mut().next().unwrap() = "ALARM".to_owned(),
            2,
            "problem alarms numbers-",
        ),
        (
            |stack| stack.subscription = Some(false),
            1,
            "warning alarms subscriptions: 'oncall@example.com' has not confirmed",
        ),
        (
            |stack| stack.rule_state = "DISABLED".to_owned(),
            2,
            "problem schedules IngestFunctionScheduled: the rule is disabled",
        ),
    ];
    for (break_it, code, beginning) in broken {
        account.change(|stack| *stack = healthy.clone());
        account.change(break_it);
        doctor(&account, &[]).await.assert_only(code, beginning);
    }
}

#[tokio::test]
async fn what_breaks_in_the_tables_is_named_with_the_right_exit_code() {
    let account = AwsAccount::with_stack().await;
    let store = &account.store;
    let (client, tables) = store.parts();

    let expiring: ApiKey = random().unwrap();
    register(store, &expiring, "a client").await.unwrap();
    let record = store.api_key(&expiring.hash()).await.unwrap().unwrap();
    let soon = "2100-01-01T00:00:00Z".parse().unwrap();
    let in_a_week = numbering::time::this_second() + jiff::SignedDuration::from_hours(7 * 24);
    let with_end = |end| KeyRecord { expires_at: Some(end), ..record.clone() };
    store.put_api_key(&with_end(soon)).await.unwrap();
    assert_eq!(doctor(&account, &[]).await.code, 0);
    store.put_api_key(&with_end(in_a_week)).await.unwrap();
    let beginning = format!("warning keys {} (a client): expires at", expiring.prefix());
    doctor(&account, &[]).await.assert_only(1, &beginning);
    store.put_api_key(&with_end(soon)).await.unwrap();

    use aws_sdk_dynamodb::types::AttributeValue::S;
    let stray = client.put_item().table_name(&tables.carriers).item("ocn", S("ZZZZ".to_owned()));
    stray.send().await.unwrap();
    doctor(&account, &[])
        .await
        .assert_only(1, "warning items items: 0 outdated, 0 unreadable, 0 missing, 1 stray");
    let stray = client.delete_item().table_name(&tables.carriers).key("ocn", S("ZZZZ".to_owned()));
    stray.send().await.unwrap();

    client.delete_table().table_name(&tables.usage).send().await.unwrap();
    doctor(&account, &[])
        .await
        .assert_only(2, "problem tables numbers-usage: the table does not exist");
}

#[tokio::test]
async fn a_version_that_cannot_be_read_is_named() {
    let account = AwsAccount::with_stack().await;
    let store = &account.store;
    let before = store.manifest().await.unwrap().unwrap();
    // The first byte of a snapshot is its layout.
    let bytes = b"\xffof a release to come";
    let now = numbering::time::this_second();
    let version = Version::new(now);
    store.write_snapshot(&version, bytes, &before.revision).await.unwrap();
    let Snapshot { statistics, file_dates, .. } = before.current.clone();
    let unreadable = Snapshot::of(version.clone(), bytes, statistics, file_dates, now);
    let after = Manifest::following(Some(&before), unreadable, |_| true);
    store.publish(&after, &before.revision).await.unwrap();
    let found = doctor(&account, &[]).await;
    let not_ok = found.not_ok();
    let beginning = format!(
        "problem data version {version}: the current version cannot be read; its layout is 255"
    );
    assert!(not_ok.iter().any(|line| line.starts_with(&beginning)), "{not_ok:#?}");
    assert_eq!(found.code, 2);
}

#[tokio::test]
async fn a_missing_permission_is_a_finding_and_everything_else_is_examined() {
    let account = AwsAccount::with_stack().await;
    for (operation, expected) in [
        ("DescribeAlarms", "unknown alarms alarms: could not be examined; a permission is missing"),
        ("ListSubscriptionsByTopic", "unknown alarms subscriptions: could not be examined"),
        ("DescribeRule", "unknown schedules IngestFunctionScheduled: could not be examined"),
        ("GetAlias", "unknown functions CarriersFunction live: could not be examined"),
        ("DescribeContinuousBackups", "unknown tables numbers-carriers: could not be examined"),
    ] {
        account.change(|stack| stack.denied = [operation.to_owned()].into());
        let found = doctor(&account, &[]).await;
        let not_ok = found.not_ok();
        assert!(not_ok[0].starts_with(expected), "{operation}: {not_ok:#?}");
        assert!(not_ok.iter().all(|line| line.starts_with("unknown ")), "{not_ok:#?}");
        assert!(not_ok[0].contains("not authorized to perform"), "{not_ok:#?}");
        assert_eq!(found.code, 1, "{operation}");
        // An answer that is slow on a busy machine is a note.
        assert!(found.lines(|state| ["ok", "note"].contains(&state)).len() > 20);
    }
    account.change(|stack| stack.denied = ["DescribeStacks".to_owned()].into());
    let found = doctor(&account, &[]).await;
    let ok = found.lines(|state| state == "ok");
    assert!(ok.iter().any(|line| line.starts_with("ok tables numbers-carriers")), "{ok:#?}");
    assert!(ok.iter().any(|line| line.starts_with("ok keys keys")), "{ok:#?}");
    assert_eq!(found.code, 1);
}

#[tokio::test]
async fn a_service_that_never_answers_does_not_hold_the_others_up() {
    let account = AwsAccount::with_stack().await;
    account.change(|stack| stack.stalled = ["DescribeAlarms".to_owned()].into());
    let found = doctor(&account, &["--timeout", "10"]).await;
    found.assert_only(1, "unknown alarms alarms: could not be examined; it took longer than 10s");
}

#[tokio::test]
async fn a_deployment_that_goes_on_is_noted() {
    let account = AwsAccount::with_stack().await;
    account.change(|stack| {
        stack.shares.insert("NpaFunction".to_owned(), 0.1);
        stack.set_live("NpaFunction", "RUST_LOG", "warn");
    });
    let found = doctor(&account, &[]).await;
    assert_eq!((found.code, found.not_ok()), (0, Vec::new()));
    let notes = found.lines(|state| state == "note");
    assert!(
        notes.iter().any(|note| note.contains("10 % of the requests go to version 8")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn a_stack_that_does_not_exist_cannot_be_examined() {
    let account = AwsAccount::with_stack().await;
    let output = account.run(&["doctor", "--stack", "letters"]).await;
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("stack 'letters' is not a deployment"), "{}", stderr(&output));
}

#[tokio::test]
async fn the_first_key_of_a_stack_protects_its_tables() {
    let account = AwsAccount::with_stack().await;
    let unprotect = |stack: &mut StackState| {
        stack.unprotected = ["numbers-api_keys".to_owned(), "numbers-usage".to_owned()].into();
    };
    account.change(unprotect);
    let create = &["keys", "create", "--name", "first", "--stack", "numbers"];
    let created = account.run(create).await;
    assert!(stdout(&created).starts_with("tnr_live_"));
    let said = "Switched on deletion protection of numbers-api_keys, numbers-usage.";
    assert!(stderr(&created).contains(said), "{}", stderr(&created));
    assert!(account.state().unprotected.is_empty());
    assert!(!stderr(&account.run(create).await).contains("protection"), "it is on already");

    account.change(unprotect);
    account.change(|stack| stack.denied = ["UpdateTable".to_owned()].into());
    let created = account.run(create).await;
    assert!(stdout(&created).starts_with("tnr_live_"), "the key is made all the same");
    let warning = "warning: deletion protection of table numbers-api_keys cannot be switched on";
    assert!(stderr(&created).contains(warning), "{}", stderr(&created));
}

#[tokio::test]
async fn a_local_database_and_the_service_on_it_are_examined() {
    let folder = TempDir::new().unwrap();
    let nothing = run(&folder, &["doctor"]);
    assert_eq!(nothing.status.code(), Some(3));
    assert!(stderr(&nothing).contains("there is no database in folder"), "{}", stderr(&nothing));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "an examination makes nothing");

    write_sample_into(folder.path());
    let without_key = run(&folder, &["doctor"]);
    assert_eq!(without_key.status.code(), Some(2));
    let text = String::from_utf8_lossy(&without_key.stdout).into_owned();
    assert!(text.contains("  problem  keys: no key works"), "{text}");
    assert!(stderr(&without_key).contains("1 problem and 0 warnings"), "{}", stderr(&without_key));

    let serving = Serving::on(&folder, &[]).await;
    let (url, key) = (serving.base_url.clone(), serving.key.clone());
    let options = ["doctor", "--url", &url, "--key", &key];
    let healthy = stdout(&run(&folder, &options));
    assert!(healthy.contains("GET /v1/search with the key: 200 in"), "{healthy}");
    serving.kill();
    let down = run(&folder, &options);
    assert_eq!(down.status.code(), Some(2));
    let text = String::from_utf8_lossy(&down.stdout).into_owned();
    assert!(text.contains(": no request is answered; "), "{text}");
}

#[tokio::test]
async fn a_service_behind_a_distribution_is_reached_by_its_secret_and_must_refuse_others() {
    let account = AwsAccount::with_stack().await;
    account.change(|stack| stack.set_origin_secret("hunter2"));
    let endpoints = |found: &Found| {
        let lines = found.lines(|_| true).into_iter();
        lines.filter(|line| line.contains(" endpoints ")).collect::<Vec<_>>()
    };
    let found = doctor(&account, &["--key", KEY]).await;
    let lines = endpoints(&found);
    assert!(lines.iter().all(|line| line.starts_with("ok ")), "{lines:#?}");
    let refused = "ok endpoints GET /v1/health past the distribution: 403 in";
    assert!(lines.iter().any(|line| line.starts_with(refused)), "{lines:#?}");
    assert!(!found.examination.to_string().contains("hunter2"), "{}", found.examination);

    account.change(|stack| stack.origin_secret = None);
    let lines = endpoints(&doctor(&account, &[]).await);
    let open = "problem endpoints GET /v1/health past the distribution: it answers requests";
    assert!(lines.iter().any(|line| line.starts_with(open)), "{lines:#?}");
}

#[tokio::test]
async fn the_permissions_in_the_documents_are_those_that_an_examination_needs() {
    let operations = include_str!("../../../../../docs/OPERATIONS.md");
    let section = operations.split_once("## Examine a deployment").unwrap().1;
    let policy = section.split_once("```json").unwrap().1.split_once("```").unwrap().0;
    let policy: Value = serde_json::from_str(policy).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let allowed: BTreeSet<&str> = statements
        .flat_map(|statement| statement["Action"].as_array().unwrap())
        .map(|action| action.as_str().unwrap())
        .collect();

    let account = AwsAccount::with_stack().await;
    let expired = random().unwrap();
    register(&account.store, &expired, "a client").await.unwrap();
    let record = account.store.api_key(&expired.hash()).await.unwrap().unwrap();
    let an_hour_ago = numbering::time::this_second() - jiff::SignedDuration::from_hours(1);
    let record = KeyRecord { expires_at: Some(an_hour_ago), ..record };
    account.store.put_api_key(&record).await.unwrap();
    doctor(&account, &["--key", KEY]).await;
    let called = account.state().called;
    assert_eq!(called.iter().map(String::as_str).collect::<BTreeSet<_>>(), allowed);
}
