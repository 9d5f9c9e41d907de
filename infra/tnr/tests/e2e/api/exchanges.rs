//! The responses to the requests in `exchanges.txt`, through the server.

use std::fmt::Write;

use flags::VERSION;
use tnr::openapi::sample_requests::parse;

use crate::support::service::{KEY, shared_service};

/// Headers that every response has, or that differ between runs.
const HIDDEN: [&str; 5] =
    ["content-length", "date", "vary", "x-content-type-options", "x-request-id"];
/// Headers whose values differ between runs.
const VARYING: [&str; 3] = ["etag", "link", "x-data-version"];
/// Longer bodies are shown by their length.
const MAX_SHOWN: usize = 600;

#[tokio::test]
async fn every_exchange_has_its_response() {
    let mut exchanges = String::new();
    for request in parse(&include_str!("exchanges.txt").replace("{version}", VERSION)) {
        let mut sent = shared_service().request_like(&request, &request.target);
        if request.header("authorization").is_some() {
            sent = sent.bearer_auth(KEY);
        }
        let response = sent.send().await.unwrap();
        let target = request.target.replace(VERSION, "{version}");
        let status = response.status().as_u16();
        writeln!(exchanges, "{}: {} {target}\n{status}", request.name, request.method).unwrap();
        for (name, value) in response.headers() {
            let is_varying = VARYING.contains(&name.as_str());
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
    insta::assert_snapshot!(exchanges);
}
