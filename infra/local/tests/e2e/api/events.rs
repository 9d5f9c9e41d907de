//! Sample requests and events, answered by the real handlers as Lambda calls them.

use std::{collections::BTreeMap, convert::Infallible, env, fs, path::Path};

use axum::{body::to_bytes, response::Response};
use ingest::{Event, Source, Sources};
use lambda_http::{Request, RequestExt, Service as LambdaService};
use serde_json::{Map, Value, json};
use shared::app::lambda;
use tnr::functions;

use crate::support::{
    api_events::{events_folder, http_api_event},
    description::violation,
    endpoints::browser_paths,
    sample_requests::requests_of,
    service::{Service, sample_app},
    template::route_of,
};

/// Replaces times in examples, which differ between runs.
const TIME: &str = "2026-11-21T09:00:03Z";

/// A function's complete sample events, by name.
fn whole_events(function: &str) -> BTreeMap<String, Value> {
    let files =
        fs::read_dir(events_folder().join(function)).unwrap().map(|file| file.unwrap().path());
    let events = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    events
        .map(|file| {
            let name = file.file_stem().unwrap().display().to_string();
            (name, serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap())
        })
        .collect()
}

/// The status, relevant headers and body of a function's answer, validated against the OpenAPI description.
async fn answer_of<S>(mut function: S, event: &Value) -> Value
where
    S: LambdaService<Request, Response = Response, Error = Infallible>,
{
    let request = lambda_http::request::from_str(&event.to_string()).unwrap();
    let (method, path) = (request.method().clone(), request.raw_http_path().to_owned());
    let target = format!("{path}?{}", request.uri().query().unwrap_or_default());
    let response = function.call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let is_for_browsers = browser_paths().contains(&route_of(&path).0);
    assert_eq!(violation(&method, &target, parts.status, &parts.headers, &body), None);
    let names = [
        "access-control-allow-headers",
        "access-control-allow-methods",
        "access-control-max-age",
        "allow",
        "cache-control",
        "content-disposition",
        "content-type",
        "link",
        "www-authenticate",
    ];
    let headers: Map<_, _> = names
        .iter()
        .filter_map(|name| {
            Some((name.to_string(), json!(parts.headers.get(*name)?.to_str().unwrap())))
        })
        .collect();
    let is_json = headers.get("content-type").is_some_and(|value| {
        let media_type = value.as_str().unwrap();
        media_type == "application/json" || media_type.ends_with("+json")
    });
    json!({
        "status": parts.status.as_u16(),
        "headers": headers,
        "body": shown(&body, is_json, is_for_browsers && parts.status.is_success())
    })
}

/// The body as snapshots show it. Browser content has its own tests and would bloat the snapshot.
fn shown(body: &[u8], is_json: bool, is_for_browsers: bool) -> Value {
    match body {
        [] => Value::Null,
        _ if is_for_browsers => "[for browsers]".into(),
        json if is_json => serde_json::from_slice(json).unwrap(),
        text => str::from_utf8(text).unwrap().into(),
    }
}

#[tokio::test]
async fn every_sample_request_gets_its_documented_response() {
    for (function, routes) in functions() {
        let service = lambda(routes, sample_app().await);
        for request in requests_of(function) {
            let name = format!("{function}/{}", request.name);
            let mut answer = answer_of(service.clone(), &http_api_event(&request)).await;
            let is_error = answer["status"].as_u64().unwrap() >= 400;
            assert_eq!(is_error, request.is_refused(), "{name}: {answer}");
            replace_times_and_versions(&mut answer);
            assert_is_example(&name, &answer);
        }
    }
}

/// Asserts that an answer matches the example in the description, or updates the example.
fn assert_is_example(name: &str, answer: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openapi/examples");
    let (file, text) = (folder.join(format!("{name}.json")), format!("{answer:#}\n"));
    if env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &text).unwrap();
    }
    let example = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        example == text,
        "{name} is answered by\n{text}instead of\n{example}UPDATE_EXAMPLES=1 accepts that"
    );
}

/// The complete events are documentation, and input for `cargo lambda invoke`.
#[test]
fn committed_events_match_their_sample_requests() {
    for (function, _) in functions() {
        let requests = requests_of(function);
        let events = whole_events(function);
        assert!(!events.is_empty(), "{function} has no whole event");
        for (name, event) in events {
            let request = requests.iter().find(|request| request.name == name);
            let request = request.unwrap_or_else(|| panic!("no request {function}/{name}"));
            assert_eq!(http_api_event(request), event, "{function}/{name}");
        }
    }
}

/// Replaces times and versions, which differ between runs.
fn replace_times_and_versions(answer: &mut Value) {
    let replace = |value: Option<&mut Value>, text: &str| {
        if let Some(value) = value {
            *value = text.into();
        }
    };
    replace(answer.pointer_mut("/body/last_ingestion"), TIME);
    let times = answer.pointer_mut("/body/last_updated").and_then(Value::as_object_mut);
    for time in times.into_iter().flat_map(Map::values_mut) {
        *time = TIME.into();
    }
    if let Some(Value::String(link)) = answer.pointer_mut("/headers/link") {
        *link = unversioned(link);
    }
}

/// A `Link` header without the data version, which contains the time of the import.
fn unversioned(link: &str) -> String {
    let mut parts = link.split("version=");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |link, part| link + "version=[version]" + &part[part.find('>').unwrap()..])
}

#[tokio::test]
async fn the_import_event_names_importable_reports() {
    let service = Service::empty().await;
    for (name, event) in whole_events("ingest") {
        let event = Event::parse(event).unwrap();
        let Sources { nanpa, cnac, npa_report, carriers, thousands_blocks } =
            event.request.sources(|_| None).unwrap();
        let sources = Sources {
            nanpa: local_copy(nanpa),
            cnac: local_copy(cnac),
            npa_report: local_copy(npa_report),
            carriers: carriers.map(local_copy),
            thousands_blocks: thousands_blocks.map(local_copy),
        };
        let store = service.database.store();
        let report = ingest::ingest(&store, &sources, ingest::Options::default(), |_| ());
        assert_eq!(report.await.unwrap().records, 3484, "{name}");
    }
}

/// The local file for an object in the `sample` bucket, as in the event replay.
fn local_copy(source: Source) -> Source {
    match source {
        Source::S3 { bucket, key } => {
            Source::File(events_folder().join("../infra/local").join(bucket).join(key))
        }
        other => panic!("{other:?}"),
    }
}
