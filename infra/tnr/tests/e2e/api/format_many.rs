//! Tests `POST /v1/format`.

use futures_util::{StreamExt, stream};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::service::shared_service;

/// Numbers from every region in every notation, each with its default country, for comparison with Google's rules.
fn numbers_worldwide() -> Vec<(String, String)> {
    const FOLDER: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/formatting/tests/agreement");
    let read = |file: &str| std::fs::read_to_string(format!("{FOLDER}/{file}")).unwrap();
    let regions = read("one_of_each_region.txt");
    let regions = regions.lines().map(|tn| (tn.to_owned(), "US".to_owned()));
    let selection = read("selection.jsonl");
    let selection = selection.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let country = row["default_region"].as_str().unwrap_or("US");
        (row["input"].as_str().unwrap().to_owned(), country.to_owned())
    });
    // An empty number counts as missing.
    regions.chain(selection).filter(|(tn, _)| !tn.is_empty()).collect()
}

#[tokio::test]
async fn batch_results_equal_single_results_byte_for_byte() {
    let service = shared_service();
    let sample_numbers =
        (0..60).map(|number| (format!("212234{:04}", number * 163), "US".to_owned()));
    let numbers: Vec<_> = numbers_worldwide().into_iter().chain(sample_numbers).collect();
    assert!(numbers.len() > 600, "{}", numbers.len());
    let bodies: Vec<Value> = numbers
        .iter()
        .map(|(tn, country)| json!({ "tn": tn, "defaultCountry": country }))
        .collect();
    let mut lines = Vec::new();
    for batch in bodies.chunks(700) {
        let request = service.post("/v1/format", "application/json", json!(batch).to_string());
        let response = request.header("accept", "application/x-ndjson").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        let body = response.text().await.unwrap();
        lines.extend(body.lines().map(str::to_owned));
    }
    assert_eq!(lines.len(), numbers.len());
    stream::iter(numbers.into_iter().zip(lines))
        .for_each_concurrent(8, async |((tn, country), line)| {
            let path = utf8_percent_encode(&tn, NON_ALPHANUMERIC);
            let target = format!("/v1/format/{path}?defaultCountry={country}");
            let single = service.get(&target).await.text().await.unwrap();
            let text = serde_json::to_string(&tn).unwrap();
            assert_eq!(line, format!("{{\"tn\":{text},\"result\":{single}}}"));
        })
        .await;
}

#[tokio::test]
async fn the_longest_response_fits_lambdas_limit() {
    /// Lambda's limit for a response, including its envelope.
    const MAX_BYTES: usize = 6 * 1024 * 1024;
    let service = shared_service();
    let longest_lines = format!("{}\n", "\u{1}".repeat(523)).repeat(1000);
    let sample_numbers: String = (0..1000).map(|number| format!("+1212234{number:04}\n")).collect();
    // Columns in a table without a header row get generated names.
    let many_columns =
        ",".repeat(999) + "\n" + &format!("{}{}\n", "\u{1}".repeat(522_000), ",".repeat(999));
    let longest_ids = format!("id,tn\n{}", format!("{0},{0}\n", "\u{1}".repeat(261)).repeat(1000));
    for (target, content_type, body) in [
        ("/v1/format?include=all", "text/csv", longest_ids),
        ("/v1/format", "text/plain", longest_lines),
        ("/v1/format", "text/plain", sample_numbers.clone()),
        ("/v1/find?include=all", "text/plain", sample_numbers),
        ("/v1/format?column=1", "text/csv; header=absent", many_columns),
    ] {
        for accept in ["application/json", "application/x-ndjson", "text/csv"] {
            let request = service.post(target, content_type, body.clone());
            let response = request.header("accept", accept).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let text = response.text().await.unwrap();
            let escaped_length = serde_json::to_string(&text).unwrap().len();
            assert!(escaped_length + 10_000 < MAX_BYTES, "{accept}: {escaped_length}");
        }
    }
}
