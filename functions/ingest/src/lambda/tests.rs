use super::*;

fn event(json: Value) -> Event {
    Event::parse(json).unwrap()
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn refusal(json: Value) -> String {
    Event::parse(json).unwrap_err()
}

fn published() -> Sources {
    Sources::published(None)
}

fn configured(variable: &str) -> Option<String> {
    (variable == "CARRIERS_SOURCE").then(|| "s3://data/carriers.csv".to_owned())
}

#[test]
fn schedules_and_created_sources_start_an_import_of_the_configured_reports() {
    let scheduled = event(json!({
        "version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}
    }));
    assert_eq!(scheduled.created_object, None);
    let sources = scheduled.request.sources(configured).unwrap();
    assert_eq!(sources.nanpa, published().nanpa);
    assert_eq!(sources.carriers, Some("s3://data/carriers.csv".parse().unwrap()));
    assert_eq!(sources.thousands_blocks, None);
    for (key, is_source) in [("carriers.csv", true), ("other.csv", false)] {
        let event = event(json!({
            "source": "aws.s3", "detail-type": "Object Created",
            "detail": { "bucket": { "name": "data" }, "object": { "key": key, "size": 1 } }
        }));
        assert_eq!(sources.include(&event.created_object.unwrap()), is_source, "{key}");
    }
}

#[test]
fn past_deadline_is_ignored() {
    assert_eq!(context_deadline(600_000), None);
    let soon = SystemTime::now() + Duration::from_secs(900);
    let milliseconds = soon.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let left = context_deadline(milliseconds as u64).unwrap() - Instant::now();
    assert!(left > Duration::from_secs(880), "{left:?}");
}

#[test]
fn request_overrides_the_configuration() {
    let configured = |value: &'static str| {
        move |variable: &str| (variable == "MAX_SUSPECT").then(|| value.to_owned())
    };
    let max_suspect = |request: Value, value| {
        let options = event(request).request.options(configured(value), None);
        options.map(|options| options.waivers.max_suspect.map(|percent| percent.to_string()))
    };
    assert_eq!(max_suspect(json!({}), "4").unwrap().as_deref(), Some("4"));
    assert_eq!(max_suspect(json!({ "max_suspect": 50.0 }), "4").unwrap().as_deref(), Some("50"));
    let wrong = max_suspect(json!({}), "two").unwrap_err();
    let expected = "the environment variable MAX_SUSPECT is not a percentage: \
                    must be a number from 0 to 100";
    assert_eq!(wrong, expected);
    let request = event(json!({ "cnac": "s3://b/cnac.zip" })).request;
    let cnac = request.sources(|_| None).unwrap().cnac;
    assert_eq!(cnac, "s3://b/cnac.zip".parse().unwrap());
    assert!(request.sources(|_| Some("http://x".to_owned())).is_err());
}

#[test]
fn refusal_command_retries_the_import_with_its_waivers() {
    let waivers = Waivers {
        max_change: Some(4893),
        max_loss: Some(670),
        max_suspect: Some("1.3".parse().unwrap()),
        allow_older: true,
    };
    let scheduled = json!({ "source": "aws.events", "detail-type": "Scheduled Event" });
    let asked = json!({ "cnac": "s3://b/it's.zip", "max_change": 5, "dry_run": true });
    for (payload, cnac) in
        [(scheduled, published().cnac), (asked, "s3://b/it's.zip".parse().unwrap())]
    {
        let command = command_with(&waivers, payload, "numbers-ingest").unwrap();
        assert!(
            command.starts_with("aws lambda invoke --function-name numbers-ingest "),
            "{command}"
        );
        let payload = command.split('\'').nth(1).unwrap();
        let request = event(parsed(payload)).request;
        let options = request.options(|_| None, None).unwrap();
        assert_eq!((options.waivers, options.dry_run), (waivers, false), "{command}");
        assert_eq!(request.sources(|_| None).unwrap().cnac, cnac, "{command}");
    }
}

#[test]
fn invalid_request_names_the_field() {
    for (payload, expected) in [
        (
            json!({ "max_suspect": 5, "dryRun": true }),
            "the request's field dryRun cannot be read: unknown field `dryRun`, expected one of \
             `nanpa`, `cnac`, `npa_report`, `carriers`, `thousands_blocks`, ",
        ),
        (json!({ "source": "aws.s3" }), "the request's field source cannot be read: unknown field"),
        (
            json!({ "max_suspect": -1.0 }),
            "the request's field max_suspect cannot be read: must be a number from 0 to 100",
        ),
        (json!({ "dry_run": "yes" }), "the request's field dry_run cannot be read: invalid type"),
        (json!([]), "the request must be a JSON object"),
        (json!({ "detail-type": "Scheduled Event" }), "the event of EventBridge has no source"),
    ] {
        let refusal = refusal(payload);
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    assert_eq!(event(Value::Null).request.sources(|_| None).unwrap().cnac, published().cnac);
}

#[test]
fn local_files_are_refused_in_requests_and_variables() {
    for path in ["/proc/self/environ", "file:///etc/passwd", "reports/nanpa.zip"] {
        for field in ["nanpa", "cnac", "npa_report", "carriers", "thousands_blocks"] {
            let request = event(json!({ field: path })).request;
            let refusal = request.sources(|_| None).unwrap_err();
            let expected = format!("the request's field {field} cannot be read: ");
            assert!(refusal.starts_with(&expected), "{refusal}");
            let variable = format!("{}_SOURCE", field.to_uppercase());
            let configured = |name: &str| (name == variable).then(|| path.to_owned());
            let error = Request::default().sources(configured).unwrap_err();
            assert!(error.contains(&variable) && !error.contains(path), "{error}");
        }
    }
}

/// The log line for a report, two months into 2026.
fn line(report: Value) -> Value {
    let now = "2026-02-10T09:00:00Z".parse().unwrap();
    parsed(&with_metrics(&report, Duration::from_millis(1500), now))
}

#[test]
fn line_has_the_metrics_of_its_report() {
    let line = line(json!({
        "outcome": "published", "records": 3484, "items": { "written": 12, "deleted": 1 },
        "skipped": { "blank rows": 2, "others": 3 },
        "warnings": { "odd": { "count": 4, "examples": ["line 2"] } },
        "verification": { "items": 9, "drift": { "outdated": 2, "missing": 1 } }
    }));
    let values =
        ["ImportFailed", "Records", "ItemsWritten", "RowsSkipped", "Warnings", "ItemDrift"];
    assert_eq!(values.map(|name| line[name].as_f64().unwrap()), [0.0, 3484.0, 12.0, 5.0, 4.0, 3.0]);
    let names = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
    assert!(names.iter().all(|metric| line[metric["Name"].as_str().unwrap()].is_number()));
}

/// The failed-import alarm clears when one succeeds. Only that import's files are served, so only their age counts.
#[test]
fn only_effective_imports_count_as_successes_and_report_file_age() {
    for (outcome, succeeded, failed, age) in [
        ("published", 1.0, 0.0, Some(40.0)),
        ("unchanged", 1.0, 0.0, Some(40.0)),
        ("planned", 0.0, 0.0, None),
        ("rolled_back", 0.0, 0.0, None),
        ("refused", 0.0, 1.0, None),
        ("failed", 0.0, 1.0, None),
    ] {
        let dates = json!({ "nanpa": "2026-02-09", "cnac": "2026-01-01", "npa_report": null });
        let line = line(json!({ "outcome": outcome, "file_dates": dates }));
        let counted = [&line["ImportSucceeded"], &line["ImportFailed"]];
        assert_eq!(counted, [&json!(succeeded), &json!(failed)], "{outcome}");
        assert_eq!(line.get("FilesAge").and_then(Value::as_f64), age, "{outcome}");
    }
    let undated = line(json!({ "outcome": "published", "file_dates": { "nanpa": null } }));
    assert!(undated.get("FilesAge").is_none());
}
