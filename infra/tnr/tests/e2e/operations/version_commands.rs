//! `tnr versions` and `tnr import --dry-run`.

use std::{fs, thread, time::Duration};

use serde_json::Value;
use tnr::database::Database;

use crate::support::{
    operator::Operator,
    program::{Server, stderr},
    small_reports::ReportSet,
    unreadable_versions::{Reason, publish_unreadable},
};

/// Success, stdout and stderr.
type CommandResult = (bool, String, String);

fn run(operator: &Operator, arguments: &[&str]) -> CommandResult {
    let output = operator.run(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into();
    (output.status.success(), text, stderr(&output))
}

/// The result of a command that prints JSON.
fn run_json(operator: &Operator, arguments: &[&str]) -> Value {
    let (_, json, error) = run(operator, &[arguments, &["--json"]].concat());
    serde_json::from_str(&json).unwrap_or_else(|_| panic!("{json}{error}"))
}

fn import(operator: &Operator, reports: &ReportSet, more: &[&str]) -> (String, String) {
    let output = operator.import(reports, more);
    (String::from_utf8_lossy(&output.stdout).into(), stderr(&output))
}

#[test]
fn versions_are_listed_with_their_changes_and_can_be_rolled_back_to() {
    let operator = Operator::new();
    operator.run(&["keys", "create", "--name", "first"]);
    let (_, none, _) = run(&operator, &["versions"]);
    let import_first =
        "No data yet; import the published reports with 'tnr import --fetch --data-dir ";
    assert!(none.starts_with(import_first), "{none}");
    import(&operator, &ReportSet::first(), &[]);
    import(&operator, &ReportSet::second(), &[]);

    let (_, table, _) = run(&operator, &["versions"]);
    let versions: Vec<&str> = table.lines().filter(|line| line.contains("imported")).collect();
    assert_eq!(versions.len(), 2, "{table}");
    assert!(versions[0].starts_with("* ") && versions[1].starts_with("  "), "{table}");
    assert!(table.contains("\n  tnr rollback --data-dir "), "{table}");

    let json = run_json(&operator, &["versions"]);
    assert_eq!((&json[0]["is_current"], &json[1]["is_current"]), (&true.into(), &false.into()));
    let records = &json[0]["compared"]["countries"]["US"]["records"];
    assert_eq!((&records["before"], &records["after"]), (&135.0.into(), &134.0.into()));
    assert_eq!(json[1]["quality"]["by_country"]["US"]["records"], 135);
    assert!(json[1]["compared"].is_null());
    assert!(json[0]["carriers"].as_u64().unwrap() > 100);

    let (rolled_back, _, error) = run(&operator, &["rollback", "--to", "yesterday"]);
    assert!(!rolled_back && error.contains("version 'yesterday' is not retained"), "{error}");
    let first = json[1]["version"].as_str().unwrap();
    let (_, table, _) = run(&operator, &["rollback", "--to", first]);
    assert!(table.starts_with(&format!("Version {first} is current again: 269 ")), "{table}");
}

#[test]
fn dry_runs_write_all_changes_to_a_file_and_the_first_few_to_the_terminal() {
    let operator = Operator::new();
    import(&operator, &ReportSet::first(), &[]);
    let dry_run =
        |file: &str| import(&operator, &ReportSet::second(), &["--dry-run", "--changes", file]);
    let [csv, jsonl] = ["changes.csv", "changes.jsonl"].map(|name| operator.path(name));
    let (table, _) = dry_run(&csv);
    assert!(table.contains("  removed exchange  415-206  "), "{table}");
    assert!(
        table.contains("  changed area code 415      total_exchanges '135' -> '134'"),
        "{table}"
    );
    let rows = fs::read_to_string(&csv).unwrap();
    assert!(rows.starts_with("change,kind,key,field,before,after\r\n"), "{rows}");
    assert!(rows.contains("\r\nchanged,area_code,415,total_exchanges,135,134\r\n"), "{rows}");
    dry_run(&jsonl);
    let lines = fs::read_to_string(&jsonl).unwrap();
    let removed = lines.lines().find(|line| line.contains("415-206")).unwrap();
    let removed: Value = serde_json::from_str(removed).unwrap();
    assert_eq!((&removed["change"], &removed["kind"]), (&"removed".into(), &"exchange".into()));
    assert_eq!(removed["fields"]["status"]["after"], Value::Null);
    let (_, error) = dry_run("changes.xls");
    assert!(error.contains("must end in .csv or .jsonl"), "{error}");
}

#[test]
fn changes_and_histories_have_values_before_and_after() {
    let operator = Operator::new();
    import(&operator, &ReportSet::first(), &[]);
    // Publications have whole seconds, and the second one must be later.
    thread::sleep(Duration::from_millis(2100));
    import(&operator, &ReportSet::second(), &[]);
    let (_, csv, _) = run(&operator, &["changes", "--csv"]);
    assert!(csv.contains(",changed,area_code,415,total_exchanges,135,134"), "{csv}");
    let json = run_json(&operator, &["changes"]);
    let changes = json["changes"].as_array().unwrap();
    let fields = changes.iter().map(|change| change["fields"].as_object().unwrap().len());
    assert_eq!(csv.lines().count() - 1, fields.sum::<usize>());
    assert_eq!(json["pagination"]["total"], changes.len());
    let (_, some, note) = run(&operator, &["changes", "--csv", "--limit", "1"]);
    let rows = changes[0]["fields"].as_object().unwrap().len();
    let expected = format!("note: {} of {} results", changes.len() - 1, changes.len());
    assert!(some.lines().count() == 1 + rows && note.contains(&expected), "{some}{note}");
    let (found, nothing, _) =
        run(&operator, &["changes", "--change", "removed", "--kind", "carrier"]);
    assert!(!found && nothing.contains("No results."), "{nothing}");

    let history = run_json(&operator, &["history", "415", "206"]);
    let published_at = history["since"]["published_at"].as_str().unwrap();
    let exchange = ["area-code", "415", "206"];
    assert!(!run(&operator, &exchange).0, "it is removed");
    let past = run_json(&operator, &[&exchange[..], &["--as-of", published_at]].concat());
    assert_eq!(past["exchanges"][0]["nxx"], "206", "{past}");
}

#[tokio::test]
async fn every_command_lists_the_unreadable_versions_it_skips() {
    for reason in Reason::ALL {
        let operator = Operator::new();
        import(&operator, &ReportSet::first(), &[]);
        let data_dir = operator.folder.path();
        let database = Database::embedded(data_dir).await.unwrap();
        let older = database.store().manifest().await.unwrap().unwrap().current.version;
        let unreadable = publish_unreadable(&database.store(), reason).await;
        database.close().await;

        let (_, table, error) = run(&operator, &["versions"]);
        assert!(table.starts_with(&format!("! {}", unreadable.version)), "{table}{error}");
        assert!(table.contains(&format!("\n* {older}")), "{table}");
        assert!(table.replace("\n             ", " ").contains(reason.text()), "{table}");
        assert!(table.contains("! cannot be read. To replace it"), "{table}");
        let json = run_json(&operator, &["versions"]);
        assert_eq!([0, 1].map(|index| &json[index]["is_answering"]), [false, true]);
        assert!(json[0]["unreadable"].as_str().unwrap().contains(reason.text()), "{json}");

        let warning = format!("warning: version {} cannot be read: ", unreadable.version);
        let fallback = format!("; using version {older}");
        let csv = operator.path("exchanges.csv");
        for arguments in [&["lookup", "+14152345678"][..], &["export", "--format", "csv", &csv]] {
            let (succeeded, _, error) = run(&operator, arguments);
            assert!(succeeded && error.contains(&warning), "{arguments:?}: {error}");
            assert!(error.contains(&fallback), "{arguments:?}: {error}");
        }
        let (verified, table, error) = run(&operator, &["verify"]);
        assert!(verified && table.starts_with(&warning), "{table}{error}");

        let server = Server::on(&operator.folder, &[]).await;
        let banner = server.output();
        assert!(banner.contains(&format!("from version {older}; the current")), "{banner}");
        assert_eq!(server.get("/v1/npa/415?limit=1").await["npa"], "415");
        assert_eq!(server.get("/health").await["status"], "degraded");
    }
}
