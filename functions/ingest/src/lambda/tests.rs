use super::*;

fn event(json: Value) -> Event {
    Event::parse(json).unwrap()
}

fn parse_json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn parse_error(json: Value) -> String {
    Event::parse(json).unwrap_err()
}

fn published() -> Sources {
    Sources::published(None)
}

fn configured(variable: &str) -> Option<String> {
    (variable == "CARRIERS_SOURCE").then(|| "s3://data/carriers.csv".to_owned())
}

#[test]
fn scheduled_and_object_created_events_import_the_configured_sources() {
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
    let other = event(json!({
        "source": "a.bus", "detail-type": "Object Created",
        "detail": { "bucket": { "name": "data" }, "object": { "key": "carriers.csv" } }
    }));
    assert_eq!(other.created_object, None);
    let unset = Request::default().sources(|_| Some(String::new())).unwrap();
    assert_eq!((unset.nanpa, unset.carriers), (published().nanpa, None));
}

#[test]
fn past_deadline_is_ignored() {
    assert_eq!(context_deadline(600_000), None);
    let end = SystemTime::now() + Duration::from_secs(900);
    let milliseconds = end.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let left = context_deadline(milliseconds as u64).unwrap() - Instant::now();
    assert!(left > Duration::from_secs(880), "{left:?}");
}

#[test]
fn request_overrides_the_environment() {
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
fn every_field_of_a_request_reaches_the_options() {
    let options = |request: Value, history_days: Option<&str>| {
        let environment =
            |variable: &str| history_days.filter(|_| variable == "HISTORY_DAYS").map(str::to_owned);
        event(request).request.options(environment, None)
    };
    let defaults = options(json!({}), None).unwrap();
    assert_eq!(defaults.waivers, Waivers::default());
    assert!(!defaults.dry_run && !defaults.replace_manifest && !defaults.restart_history);
    assert_eq!((defaults.history_days, defaults.deadline), (DEFAULT_HISTORY_DAYS, None));

    let flags = |field: &str| {
        let options = options(json!({ field: true }), None).unwrap();
        let Options { dry_run, replace_manifest, restart_history, waivers, .. } = options;
        [dry_run, replace_manifest, restart_history, waivers.allow_older]
    };
    assert_eq!(flags("dry_run"), [true, false, false, false]);
    assert_eq!(flags("replace_manifest"), [false, true, false, false]);
    assert_eq!(flags("restart_history"), [false, false, true, false]);
    assert_eq!(flags("allow_older"), [false, false, false, true]);

    let counts = options(json!({ "max_change": 7, "max_loss": 8 }), Some("30")).unwrap();
    assert_eq!((counts.waivers.max_change, counts.waivers.max_loss), (Some(7), Some(8)));
    assert_eq!(counts.history_days, 30);
    let error = options(json!({}), Some("a month")).unwrap_err();
    assert!(error.starts_with("the environment variable HISTORY_DAYS is not a count"), "{error}");
    let deadline = Instant::now();
    let request = Request::default();
    assert_eq!(request.options(|_| None, Some(deadline)).unwrap().deadline, Some(deadline));
}

#[test]
fn retry_command_includes_the_request_and_the_waivers() {
    let waivers = Waivers {
        max_change: Some(4893),
        max_loss: Some(670),
        max_suspect: Some("1.3".parse().unwrap()),
        allow_older: true,
    };
    let scheduled = json!({ "source": "aws.events", "detail-type": "Scheduled Event" });
    let requested = json!({ "cnac": "s3://b/it's.zip", "max_change": 5, "dry_run": true });
    for (payload, cnac) in
        [(scheduled, published().cnac), (requested, "s3://b/it's.zip".parse().unwrap())]
    {
        let command = retry_command(&waivers, payload, "numbers-ingest").unwrap();
        assert!(
            command.starts_with("aws lambda invoke --function-name numbers-ingest "),
            "{command}"
        );
        let payload = command.split('\'').nth(1).unwrap();
        let request = event(parse_json(payload)).request;
        let options = request.options(|_| None, None).unwrap();
        assert_eq!((options.waivers, options.dry_run), (waivers, false), "{command}");
        assert_eq!(request.sources(|_| None).unwrap().cnac, cnac, "{command}");
    }
}

#[test]
fn invalid_request_error_names_the_field() {
    for (payload, expected) in [
        (
            json!({ "max_suspect": 5, "dryRun": true }),
            "request field dryRun is invalid: unknown field `dryRun`, expected one of \
             `nanpa`, `cnac`, `npa_report`, `carriers`, `thousands_blocks`, ",
        ),
        (json!({ "source": "aws.s3" }), "request field source is invalid: unknown field"),
        (
            json!({ "max_suspect": -1.0 }),
            "request field max_suspect is invalid: must be a number from 0 to 100",
        ),
        (json!({ "dry_run": "yes" }), "request field dry_run is invalid: invalid type"),
        (json!([]), "the request must be a JSON object"),
        (json!({ "detail-type": "Scheduled Event" }), "the EventBridge event has no source"),
    ] {
        let error = parse_error(payload);
        assert!(error.starts_with(expected), "{error}");
    }
    assert_eq!(event(Value::Null).request.sources(|_| None).unwrap().cnac, published().cnac);
}

#[test]
fn requests_and_variables_cannot_name_local_files() {
    let path = "/proc/self/environ";
    for field in ["nanpa", "cnac", "npa_report", "carriers", "thousands_blocks"] {
        let error = parse_error(json!({ field: path }));
        assert!(error.starts_with(&format!("request field {field} is invalid: ")), "{error}");
        let variable = format!("{}_SOURCE", field.to_uppercase());
        let configured = |name: &str| (name == variable).then(|| path.to_owned());
        let error = Request::default().sources(configured).unwrap_err();
        assert!(error.contains(&variable) && !error.contains(path), "{error}");
    }
}

fn log_line(report: Value) -> Value {
    let now = "2026-02-10T09:00:00Z".parse().unwrap();
    parse_json(&with_metrics(&report, Duration::from_millis(1500), now))
}

#[test]
fn log_line_includes_the_metrics_for_its_report() {
    let line = log_line(json!({
        "outcome": "published", "records": 3484, "items": { "written": 12, "deleted": 1 },
        "skipped": { "blank rows": 2, "others": 3 }, "unread_block_reports": ["CA"],
        "warnings": { "odd": { "count": 4, "examples": ["line 2"] } },
        "unrecorded": 1,
        "verification": {
            "items": 9, "drift": { "outdated": 2, "missing": 1 },
            "history": { "changes": 9, "drift": { "differences": 1, "changes": 3 } },
        },
    }));
    for (name, value) in [
        ("ImportFailed", 0.0),
        ("Records", 3484.0),
        ("ItemsWritten", 12.0),
        ("RowsSkipped", 5.0),
        ("Warnings", 4.0),
        ("UnreadBlockReports", 1.0),
        ("UnrecordedPublications", 1.0),
        ("ItemDrift", 7.0),
    ] {
        assert_eq!(line[name], json!(value), "{name}");
    }
    let names = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
    assert!(names.iter().all(|metric| line[metric["Name"].as_str().unwrap()].is_number()));
}

/// A successful import clears the alarm for failed ones.
#[test]
fn only_completed_imports_count_as_successes() {
    for (outcome, succeeded, failed) in [
        ("published", 1.0, 0.0),
        ("unchanged", 1.0, 0.0),
        ("planned", 0.0, 0.0),
        ("rolled_back", 0.0, 0.0),
        ("refused", 0.0, 1.0),
        ("failed", 0.0, 1.0),
    ] {
        let line = log_line(json!({ "outcome": outcome }));
        let counted = [&line["ImportSucceeded"], &line["ImportFailed"]];
        assert_eq!(counted, [&json!(succeeded), &json!(failed)], "{outcome}");
    }
}
