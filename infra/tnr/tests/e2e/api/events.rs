//! Sample requests and events, sent to the real handlers as Lambda sends them.

use std::{collections::BTreeMap, env, fs, path::Path};

use serde_json::{Map, Value, json};
use shared::routes::Routes;
use tnr::functions;

use crate::support::{
    api_events::{events_folder, http_api_event},
    description::violation,
    endpoints::{browser_paths, routes_for},
    function_calls::response_to,
    sample_requests::{SampleRequest, requests_for},
    service::sample_app,
    template::route_for,
};

/// Stands in for times in examples, which differ between runs.
const TIME: &str = "2026-11-21T09:00:03Z";
const VERSION: &str = "20261121T090003Z-k3v9";

/// A function's complete sample events, by name.
fn complete_events(function: &str) -> BTreeMap<String, Value> {
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

/// The status, relevant headers and body of a function's response, validated against the OpenAPI description. Browser
/// content has its own tests and would bloat the examples.
async fn documented_response(routes: Routes, request: &SampleRequest) -> Value {
    let response = response_to(routes, sample_app().await, &http_api_event(request)).await;
    let method = request.method.parse().unwrap();
    let (status, text) = (response.status.try_into().unwrap(), response.text());
    let violation = violation(&method, &request.target, status, &response.headers, text.as_bytes());
    assert_eq!(violation, None);
    let is_for_browsers = browser_paths().contains(&route_for(request.path()).0);
    let body = match response.body {
        _ if text.is_empty() => Value::Null,
        _ if is_for_browsers && status.is_success() => "[for browsers]".into(),
        body => body,
    };
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
    let headers = names.into_iter().filter_map(|name| {
        Some((name.to_owned(), response.headers.get(name)?.to_str().unwrap().into()))
    });
    json!({ "status": response.status, "headers": headers.collect::<Map<_, _>>(), "body": body })
}

#[tokio::test]
async fn every_sample_request_gets_its_documented_response() {
    for (function, _) in functions() {
        for request in requests_for(function) {
            let name = format!("{function}/{}", request.name);
            let mut response = documented_response(routes_for(function), &request).await;
            let is_error = response["status"].as_u64().unwrap() >= 400;
            assert_eq!(is_error, request.is_rejected(), "{name}: {response}");
            replace_times_and_versions(&mut response);
            assert_is_example(&name, &response);
        }
    }
}

/// Asserts that a response matches the example in the description, or updates the example.
fn assert_is_example(name: &str, response: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openapi/examples");
    let (file, text) = (folder.join(format!("{name}.json")), format!("{response:#}\n"));
    if env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &text).unwrap();
    }
    let example = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        example == text,
        "the response to {name} is\n{text}instead of\n{example}set UPDATE_EXAMPLES=1 to accept it"
    );
}

/// The complete events are documentation, and input for `cargo lambda invoke`.
#[test]
fn committed_events_match_their_sample_requests() {
    for (function, _) in functions() {
        let requests = requests_for(function);
        let events = complete_events(function);
        assert!(!events.is_empty(), "{function} has no complete event");
        for (name, event) in events {
            let request = requests.iter().find(|request| request.name == name);
            let request = request.unwrap_or_else(|| panic!("no request {function}/{name}"));
            assert_eq!(http_api_event(request), event, "{function}/{name}");
        }
    }
}

/// Replaces times and versions, which differ between runs.
fn replace_times_and_versions(response: &mut Value) {
    match response {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("last_updated", Value::Object(times)) => {
                        times.values_mut().for_each(|time| *time = TIME.into());
                    }
                    ("last_ingestion" | "imported_at" | "published_at" | "read_at", time) => {
                        *time = TIME.into();
                    }
                    ("version" | "publication", version) => *version = VERSION.into(),
                    ("link", Value::String(link)) => *link = without_version(link),
                    ("body", Value::String(text)) => *text = without_time(text),
                    // An agent's tools, which describe themselves.
                    ("result", _) => (),
                    (_, value) => replace_times_and_versions(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(replace_times_and_versions),
        _ => (),
    }
}

/// A feed without the time of its last change.
fn without_time(text: &str) -> String {
    let parts = text
        .split_once("<updated>")
        .and_then(|(before, rest)| Some((before, rest.split_once("</updated>")?.1)));
    parts.map_or(text.to_owned(), |(before, after)| {
        format!("{before}<updated>{TIME}</updated>{after}")
    })
}

/// A `Link` header without the data version, which contains the time of the import.
fn without_version(link: &str) -> String {
    let mut parts = link.split("version=");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |link, part| link + "version=[version]" + &part[part.find('>').unwrap()..])
}
