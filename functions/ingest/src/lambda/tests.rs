use super::*;
use crate::IngestError;

fn event(json: Value) -> Event {
    Event::parse(json).unwrap()
}

fn refusal(json: Value) -> String {
    Event::parse(json).unwrap_err().to_string()
}

fn configured(variable: &str) -> Option<String> {
    (variable == "CARRIERS_SOURCE").then(|| "s3://data/carriers.csv".to_owned())
}

#[test]
fn a_schedule_imports_what_is_configured_and_published() {
    let scheduled = event(json!({
        "version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}
    }));
    assert_eq!(scheduled.landed(), None);
    let sources = scheduled.request().sources(configured).unwrap();
    assert_eq!(sources.nanpa, Source::Https(NANPA_ADDRESS.to_owned()));
    assert_eq!(sources.carriers, Some("s3://data/carriers.csv".parse().unwrap()));
    assert_eq!(sources.thousands_blocks, None);
}

#[test]
fn an_object_that_landed_counts_if_it_is_a_source() {
    let landed = |key: &str| {
        let event = event(json!({
            "source": "aws.s3", "detail-type": "Object Created",
            "detail": { "bucket": { "name": "data" }, "object": { "key": key, "size": 1 } }
        }));
        let object = event.landed().unwrap();
        event.request().sources(configured).unwrap().include(&object)
    };
    assert!(landed("carriers.csv"));
    assert!(!landed("other.csv"));
}

#[test]
fn an_operator_names_sources_and_limits() {
    let event = event(json!({ "cnac": "s3://b/cnac.zip", "max_shrink": 5.0, "dry_run": true }));
    let request = event.request();
    let options = request.options(|_| None, None).unwrap();
    assert_eq!(request.sources(|_| None).unwrap().cnac, "s3://b/cnac.zip".parse().unwrap());
    assert!(options.dry_run && !options.allow_older);
    assert_eq!(options.max_shrink.to_string(), "5");
    assert!(request.sources(|_| Some("http://x".to_owned())).is_err());
    let wrong = Request::default().options(|_| Some("two".to_owned()), None);
    assert!(wrong.is_err());
}

#[test]
fn a_deadline_that_has_passed_is_none() {
    assert_eq!(context_deadline(600_000), None);
    let soon = SystemTime::now() + Duration::from_secs(900);
    let milliseconds = soon.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let left = context_deadline(milliseconds as u64).unwrap() - Instant::now();
    assert!(left > Duration::from_secs(880), "{left:?}");
}

#[test]
fn a_request_waives_a_gate_before_what_is_configured() {
    let configured = |variable: &str| (variable == "MAX_CHANGE").then(|| "4".to_owned());
    let options = |json| event(json).request().options(configured, None).unwrap();
    let options_of = |json| {
        let Options { max_change, max_suspect, .. } = options(json);
        [max_change, max_suspect].map(|limit| limit.map(|limit| limit.to_string()))
    };
    assert_eq!(options_of(json!({})), [Some("4".to_owned()), None]);
    let waived = options_of(json!({ "max_change": 100.0, "max_suspect": 50.0 }));
    assert_eq!(waived, [Some("100".to_owned()), Some("50".to_owned())]);
}

#[test]
fn what_is_misspelt_is_named_with_what_is_known() {
    let misspelt = refusal(json!({ "max_shrink": 5, "dryRun": true }));
    let expected = "the request's field dryRun: unknown field `dryRun`, expected one of \
                    `nanpa`, `cnac`, `npa_report`, `carriers`, `thousands_blocks`, ";
    assert!(misspelt.starts_with(expected), "{misspelt}");
    let source = refusal(json!({ "source": "aws.s3" }));
    assert!(source.starts_with("the request's field source: unknown field"), "{source}");
}

#[test]
fn what_is_wrong_is_named_with_its_field() {
    assert_eq!(
        refusal(json!({ "max_shrink": -1.0 })),
        "the request's field max_shrink: must be a number from 0 to 100"
    );
    let no_flag = refusal(json!({ "dry_run": "yes" }));
    assert!(no_flag.starts_with("the request's field dry_run: invalid type"), "{no_flag}");
    assert!(refusal(json!([])).starts_with("the request must be a JSON object"));
    let bridge = refusal(json!({ "detail-type": "Scheduled Event" }));
    assert!(bridge.contains("missing field `source`"), "{bridge}");
}

#[test]
fn nothing_asks_for_nothing_in_particular() {
    for payload in [Value::Null, json!({})] {
        let sources = event(payload).request().sources(|_| None).unwrap();
        assert_eq!(sources.cnac, Source::Https(CNAC_ADDRESS.to_owned()));
    }
}

#[test]
fn no_file_of_the_machine_is_a_source_by_request_or_environment() {
    for path in ["/proc/self/environ", "file:///etc/passwd", "reports/nanpa.zip"] {
        for field in ["nanpa", "cnac", "npa_report", "carriers", "thousands_blocks"] {
            let refusal = refusal(json!({ field: path }));
            assert!(refusal.starts_with(&format!("the request's field {field}: ")), "{refusal}");
            let variable = format!("{}_SOURCE", field.to_uppercase());
            let configured = |name: &str| (name == variable).then(|| path.to_owned());
            let error = Request::default().sources(configured).unwrap_err().to_string();
            assert!(error.contains(&variable) && !error.contains(path), "{error}");
        }
    }
}

#[test]
fn an_error_tells_the_place_and_nothing_of_the_file() {
    let in_source = |error| IngestError::InSource {
        source_name: "s3://b/k".to_owned(),
        error: Box::new(error),
    };
    let cell = in_source(IngestError::Cell {
        file: "a report",
        line: 2,
        column: "NPA",
        value: "SECRET".to_owned(),
        rule: "must be exactly 3 digits".to_owned(),
    });
    let expected = "s3://b/k: a report, line 2, column NPA: the cell must be exactly 3 digits";
    assert_eq!(cell.without_contents(), expected);
    let header = in_source(IngestError::NoHeader {
        file: "a report",
        lacking: "NPA".to_owned(),
        line: 1,
        found: "SECRET=1".to_owned(),
    });
    assert!(header.to_string().contains("SECRET"));
    assert!(!header.without_contents().contains("SECRET"));
}

#[test]
fn the_line_holds_report_and_metrics() {
    let report = json!({
        "outcome": "published", "records": 3484, "items": { "written": 12, "deleted": 1 },
        "skipped": { "blank rows": 2, "others": 3 },
        "warnings": { "odd": { "count": 4, "examples": ["line 2"] } },
        "verification": { "items": 9, "drift": { "outdated": 2, "missing": 1 } }
    });
    let line = with_metrics(&report, Duration::from_millis(1500));
    let names = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
    assert!(names.iter().all(|metric| line[metric["Name"].as_str().unwrap()].is_number()));
    let values =
        ["ImportFailed", "Records", "ItemsWritten", "RowsSkipped", "Warnings", "ItemDrift"];
    assert_eq!(values.map(|name| line[name].as_f64().unwrap()), [0.0, 3484.0, 12.0, 5.0, 4.0, 3.0]);
    assert_eq!(with_metrics(&json!({ "outcome": "refused" }), Duration::ZERO)["ImportFailed"], 1.0);
}
