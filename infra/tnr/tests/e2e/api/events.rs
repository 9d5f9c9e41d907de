//! Sends sample requests and events to the real handlers as Lambda does, and the requests in `requests.txt`
//! through the server.

use std::{collections::BTreeMap, env, fmt::Write, fs, path::Path, sync::LazyLock};

use flags::VERSION;
use regex::Regex;
use serde_json::{Map, Value, json};
use shared::routes::Routes;
use tnr::functions;

use crate::support::{
    api_events::{events_folder, http_api_event},
    description::violation,
    endpoints::{browser_paths, routes_for},
    function_calls::response_to,
    sample_requests::{SampleRequest, parse, requests_for},
    service::{KEY, sample_app, shared_service},
    template::route_for,
};

/// Times and versions, which differ between runs, and their replacements in examples.
static VARYING: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    let patterns = [
        (r"version=\d{8}T\d{6}Z-\w+", "version=[version]"),
        (r#""\d{8}T\d{6}Z-\w+""#, "\"20261121T090003Z-k3v9\""),
        (r#""\d{4}-\d\d-\d\dT[\d:.]+Z""#, "\"2026-11-21T09:00:03Z\""),
        ("<updated>[^<]+", "<updated>2026-11-21T09:00:03Z"),
    ];
    patterns.map(|(pattern, example)| (Regex::new(pattern).unwrap(), example))
});

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
/// content has separate tests and would bloat the examples.
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
            let response = documented_response(routes_for(function), &request).await;
            let is_error = response["status"].as_u64().unwrap() >= 400;
            assert_eq!(is_error, request.is_rejected(), "{name}: {response}");
            let text =
                VARYING.iter().fold(format!("{response:#}\n"), |text, (pattern, example)| {
                    pattern.replace_all(&text, *example).into_owned()
                });
            assert_is_example(&name, &text);
        }
    }
}

/// Asserts that a response matches the example in the description, or updates the example.
fn assert_is_example(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openapi/examples");
    let file = folder.join(format!("{name}.json"));
    if env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
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

/// Headers that every response has, or that differ between runs.
const HIDDEN: [&str; 5] =
    ["content-length", "date", "vary", "x-content-type-options", "x-request-id"];
/// Headers whose values differ between runs.
const VARYING_HEADERS: [&str; 3] = ["etag", "link", "x-data-version"];
/// Longer bodies are replaced by their length.
const MAX_SHOWN: usize = 600;

#[tokio::test]
async fn every_listed_request_has_the_expected_response() {
    let mut exchanges = String::new();
    for request in parse(&include_str!("requests.txt").replace("{version}", VERSION)) {
        let mut sent = shared_service().request_like(&request, &request.target);
        if request.header("authorization").is_some() {
            sent = sent.bearer_auth(KEY);
        }
        let response = sent.send().await.unwrap();
        let target = request.target.replace(VERSION, "{version}");
        let status = response.status().as_u16();
        writeln!(exchanges, "{}: {} {target}\n{status}", request.name, request.method).unwrap();
        for (name, value) in response.headers() {
            let is_varying = VARYING_HEADERS.contains(&name.as_str());
            let value = if is_varying { "..." } else { value.to_str().unwrap() };
            if !HIDDEN.contains(&name.as_str()) {
                writeln!(exchanges, "  {name}: {value}").unwrap();
            }
        }
        let body = response.bytes().await.unwrap();
        match std::str::from_utf8(&body) {
            Ok(text) if text.len() <= MAX_SHOWN => writeln!(exchanges, "{text}\n").unwrap(),
            _ => writeln!(exchanges, "a longer body\n").unwrap(),
        }
    }
    insta::assert_snapshot!("exchanges", exchanges);
}
