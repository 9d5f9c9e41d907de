use super::*;

/// The folder of Ofcom's files.
const TELEPHONE_NUMBERS: &str = "https://www.ofcom.org.uk/siteassets/resources/documents/phones-telecoms-and-internet/information-for-industry/numbering/regular-updates/telephone-numbers";

fn event(json: Value) -> Event {
    Event::parse(json).unwrap()
}

fn parse_json(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn only<'a>(variable: &'a str, value: &'a str) -> impl Fn(&str) -> Option<String> {
    move |name: &str| (name == variable).then(|| value.to_owned())
}

fn published(name: ReportName) -> Option<Source> {
    Sources::default().or_published(None, &[]).get(name).cloned()
}

#[test]
fn sources_come_from_the_request_then_the_environment_then_the_publishers() {
    let scheduled = json!({ "source": "aws.events", "detail-type": "Scheduled Event" });
    let object = "s3://b/cnac.zip";
    let parsed: Option<Source> = Some(object.parse().unwrap());
    let mut cases = vec![
        (json!({ "cnac": object }), "CNAC_SOURCE", "https://x", ReportName::Cnac, parsed.clone()),
        (json!({}), "CNAC_SOURCE", "", ReportName::Cnac, published(ReportName::Cnac)),
        (Value::Null, "OTHER", object, ReportName::Nanpa, published(ReportName::Nanpa)),
        (json!({}), "OTHER", object, ReportName::CanadianBlocks, None),
    ];
    let variables = REPORTS.each_ref().map(|report| {
        let name = report.format.name;
        (name, format!("{}_SOURCE", name.to_string().to_uppercase()))
    });
    for (name, variable) in &variables {
        cases.push((scheduled.clone(), variable, object, *name, parsed.clone()));
    }
    for (payload, variable, value, name, expected) in cases {
        let sources = event(payload).request.sources(only(variable, value)).unwrap();
        assert_eq!(sources.get(name), expected.as_ref(), "{variable} {value}");
    }
}

#[test]
fn only_new_objects_in_s3_name_a_source() {
    let created = |source: &str| {
        let event = event(json!({
            "source": source, "detail-type": "Object Created",
            "detail": { "bucket": { "name": "data" }, "object": { "key": "a/b.csv", "size": 1 } }
        }));
        event.created_object
    };
    assert_eq!(created("aws.s3"), Some("s3://data/a/b.csv".parse().unwrap()));
    assert_eq!(created("a.bus"), None);
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
fn every_field_of_a_request_reaches_the_options() {
    let deadline = Some(Instant::now());
    let none = ("", "");
    let described = [
        (json!({}), none),
        (json!({ "dry_run": true }), none),
        (json!({ "replace_manifest": true }), none),
        (json!({ "restart_history": true }), ("HISTORY_DAYS", "30")),
        (json!({ "allow": ["dates", "changes"] }), none),
        (json!({ "allow": ["dates"] }), ("ALLOWED_GATES", "losses,suspect")),
        (json!({}), ("ALLOWED_GATES", "")),
        (json!({}), ("ALLOWED_GATES", "two")),
        (json!({}), ("HISTORY_DAYS", "a month")),
    ]
    .map(|(request, (variable, value))| {
        let options = event(request.clone()).request.options(only(variable, value), deadline);
        let options = options.map(|options| {
            assert_eq!(options.deadline, deadline);
            let Options { dry_run, replace_manifest, restart_history, history_days, .. } = options;
            let flags = [dry_run, replace_manifest, restart_history].map(u8::from);
            format!("{flags:?} {history_days} {:?}", options.allow.iter().collect::<Vec<_>>())
        });
        format!("{request} {variable}={value}\n  {}\n", options.unwrap_or_else(|error| error))
    });
    insta::assert_snapshot!(described.concat());
}

#[test]
fn retry_command_repeats_the_request_and_allows_the_gates() {
    let scheduled = json!({ "source": "aws.events", "detail-type": "Scheduled Event" });
    let requested = json!({ "cnac": "s3://b/it's.zip", "allow": ["suspect"], "dry_run": true });
    let object = Some("s3://b/it's.zip".parse().unwrap());
    for (payload, cnac) in [(scheduled, published(ReportName::Cnac)), (requested, object)] {
        let command = retry_command(&Gate::ALL, payload, "numbers-ingest");
        let start = "aws lambda invoke --function-name numbers-ingest ";
        assert!(command.starts_with(start), "{command}");
        let request = event(parse_json(command.split('\'').nth(1).unwrap())).request;
        assert_eq!((&request.allow[..], request.dry_run), (&Gate::ALL[..], false), "{command}");
        assert_eq!(request.sources(|_| None).unwrap().get(ReportName::Cnac), cnac.as_ref());
    }
}

#[test]
fn countries_come_from_the_request_then_the_environment() {
    let described = [
        (json!({}), ""),
        (json!({}), "GB, fr,"),
        (json!({ "countries": ["es"] }), "GB"),
        (json!({ "countries": [] }), "GB"),
        (json!({ "ranges": { "GB": ["s3://b/s7.csv", "s3://b/s8.csv"] } }), "ES"),
        (json!({}), "XX"),
    ]
    .map(|(request, variable)| {
        let sources = event(request.clone()).request.country_sources(only("COUNTRIES", variable));
        let sources = sources.map(|sources| {
            let country = |(code, sources): (&SupportedCountry, &Vec<Source>)| {
                let sources =
                    sources.iter().map(|it| it.to_string().replace(TELEPHONE_NUMBERS, "…"));
                format!("{} {}", code.code(), sources.collect::<Vec<_>>().join(" "))
            };
            sources.iter().map(country).collect::<Vec<_>>().join(", ")
        });
        format!("{request} {variable}\n  {}\n", sources.unwrap_or_else(|error| error))
    });
    insta::assert_snapshot!(described.concat());
}

#[test]
fn invalid_requests_are_rejected_with_the_reason() {
    let errors = [
        json!({ "allow": [], "dryRun": true }),
        json!({ "source": "aws.s3" }),
        json!({ "allow": ["all"] }),
        json!({ "dry_run": "yes" }),
        json!({ "countries": ["XX"] }),
        json!({ "ranges": { "GB": ["/proc/self/environ"] } }),
        json!([]),
        json!({ "detail-type": "Scheduled Event" }),
    ]
    .map(|payload| format!("{payload}\n  {}\n", Event::parse(payload.clone()).unwrap_err()));
    insta::assert_snapshot!(errors.concat());
}

#[test]
fn requests_and_variables_cannot_name_local_files() {
    let path = "/proc/self/environ";
    for field in REPORTS.iter().map(|report| report.format.name.to_string()) {
        let error = Event::parse(json!({ &field: path })).unwrap_err();
        let start = format!("request field {field} is invalid: must be an https://");
        assert!(error.starts_with(&start), "{error}");
        let variable = format!("{}_SOURCE", field.to_uppercase());
        let error = Request::default().sources(only(&variable, path)).unwrap_err();
        assert!(error.contains(&variable) && !error.contains(path), "{error}");
    }
}

/// A successful import clears the alarm for failed imports.
#[test]
fn log_line_includes_the_metrics_for_its_report() {
    let published = json!({
        "outcome": "published", "records": 3484, "items": { "written": 12, "deleted": 1 },
        "skipped": { "blank rows": 2, "others": 3 }, "unread_block_reports": ["CA"],
        "countries": {
            "GB": { "outcome": "published" }, "FR": { "outcome": "refused" },
            "ES": { "outcome": "failed" },
        },
        "warnings": { "odd": { "count": 4, "examples": ["line 2"] } },
        "unrecorded": 1,
        "verification": {
            "items": 9, "drift": { "outdated": 2, "missing": 1 },
            "history": { "changes": 9, "drift": { "differences": 1, "changes": 3 } },
        },
    });
    let others = ["unchanged", "planned", "rolled_back", "refused", "failed"]
        .map(|outcome| json!({ "outcome": outcome }));
    let mut text = String::new();
    for report in [published].into_iter().chain(others) {
        let now = "2026-02-10T09:00:00Z".parse().unwrap();
        let line = parse_json(&with_metrics(&report, Duration::from_millis(1500), now));
        text += &format!("{} {}:", report["outcome"], line["level"]);
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap() {
            let name = metric["Name"].as_str().unwrap();
            text += &format!(" {name} {}", line[name]);
        }
        text += "\n";
    }
    insta::assert_snapshot!(text);
}
