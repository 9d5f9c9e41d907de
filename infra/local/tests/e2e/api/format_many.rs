//! `POST /v1/format`.

use futures_util::{StreamExt, stream};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    numbers_of_the_world::numbers_of_the_world,
    service::{Service, fields, shared_service},
};

async fn post(target: &str, content_type: &str, body: impl Into<reqwest::Body>) -> Response {
    shared_service().post(target, content_type, body).send().await.unwrap()
}

/// The answers to numbers as JSON.
async fn results(target: &str, numbers: &Value) -> Vec<Value> {
    let response = post(target, "application/json", numbers.to_string()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body: Value = response.json().await.unwrap();
    body["results"].as_array().unwrap().clone()
}

async fn assert_refused(
    content_type: &str,
    body: impl Into<reqwest::Body>,
    (status, error): (u16, &str),
    message: &str,
) {
    let response = post("/v1/format", content_type, body).await;
    assert_eq!(response.status(), status, "{message}");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body, json!({ "error": error, "message": message }));
}

#[tokio::test]
async fn the_answers_stand_in_the_order_of_the_numbers_each_with_its_text_and_name() {
    let numbers = json!([
        "305 234 5678",
        { "tn": "020 7946 0958", "defaultCountry": "gb", "id": "second" },
        { "tn": " +1 416 234 5678 ", "id": "" },
        "hello",
        "305 234 5678"
    ]);
    let results = results("/v1/format", &numbers).await;
    let texts: Vec<&str> = results.iter().map(|result| result["tn"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        ["305 234 5678", "020 7946 0958", " +1 416 234 5678 ", "hello", "305 234 5678"]
    );
    assert_eq!(fields(&results[0]), ["tn", "result"]);
    assert_eq!(fields(&results[1]), ["id", "tn", "result"]);
    assert_eq!((&results[1]["id"], &results[2]["id"]), (&json!("second"), &json!("")));
    assert_eq!(results[1]["result"]["country"], "GB");
    assert_eq!(
        results[3]["result"],
        json!({ "valid": false, "possible": false, "input": "hello" })
    );
    assert_eq!(results[4], results[0]);
}

#[tokio::test]
async fn one_bad_number_has_an_error_in_its_place_and_the_others_have_results() {
    let numbers =
        json!([null, "305 234 5678", { "tn": "1", "defaultCountry": "UK" }, "", { "id": "x" }]);
    let results = results("/v1/format?defaultCountry=GB", &numbers).await;
    let errors: Vec<_> = results
        .iter()
        .map(|result| (result["error"]["error"].as_str(), result["result"].is_object()))
        .collect();
    assert_eq!(
        errors,
        [
            (Some("invalid_request"), false),
            (None, true),
            (Some("Bad Request"), false),
            (Some("invalid_request"), false),
            (Some("invalid_request"), false),
        ]
    );
    assert_eq!(results[4]["id"], "x");
}

#[tokio::test]
async fn each_result_is_byte_for_byte_that_of_the_number_alone() {
    let service = shared_service();
    let of_sample = (0..60).map(|number| (format!("212234{:04}", number * 163), "US".to_owned()));
    let numbers: Vec<_> = numbers_of_the_world().into_iter().chain(of_sample).collect();
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
            let alone = service.get(&target).await.text().await.unwrap();
            let text = serde_json::to_string(&tn).unwrap();
            assert_eq!(line, format!("{{\"tn\":{text},\"result\":{alone}}}"));
        })
        .await;
}

#[tokio::test]
async fn lines_and_rows_have_the_same_results_as_an_array() {
    let numbers = ["305 234 5678", "+44 20 7946 0958", "hello"];
    let expected = results("/v1/format", &json!(numbers)).await;
    for (content_type, body) in [
        ("text/plain", "305 234 5678\r\n+44 20 7946 0958\r\nhello\r\n"),
        ("text/csv", "tn\n305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv; header=absent", "305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv", "a;phone\n1;305 234 5678\n2;+44 20 7946 0958\n3;hello\n"),
    ] {
        let response = post("/v1/format", content_type, body).await;
        assert_eq!(response.status(), StatusCode::OK, "{content_type}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["results"], json!(expected), "{content_type}");
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused_as_a_whole() {
    let invalid = (400, "invalid_request");
    assert_refused(
        "application/json",
        "[\"305\"",
        invalid,
        "The body must be JSON, got an error: EOF while parsing a list at line 1 column 6",
    )
    .await;
    let too_many = "1\n".repeat(1001);
    assert_refused(
        "text/plain",
        too_many,
        (413, "content_too_large"),
        "The body must have at most 1000 numbers, got 1001; send the others in another request",
    )
    .await;
    assert_refused(
        "text/plain",
        "1".repeat(524_289),
        (413, "content_too_large"),
        "The body must have at most 524288 bytes, got 524289; send a part of the numbers in another \
         request",
    )
    .await;
    assert_refused(
        "application/x-www-form-urlencoded",
        "tn=1",
        (415, "unsupported_media_type"),
        "Content-Type must be application/json, text/plain or text/csv, got \
         'application/x-www-form-urlencoded'",
    )
    .await;
    for (target, message) in [
        ("/v1/format?defaultCountry=UK", "Invalid defaultCountry 'UK'"),
        ("/v1/format?tn=305", "Unknown parameter 'tn'"),
        ("/v1/format?column=a", "column is only for a body of text/csv"),
        ("/v1/format?countryColumn=a", "countryColumn is only for a body of text/csv"),
    ] {
        let response = post(target, "text/plain", "305").await;
        assert_eq!(response.status(), 400, "{target}");
        let body: Value = response.json().await.unwrap();
        assert!(body["message"].as_str().unwrap().starts_with(message), "{body}");
    }
    // A parameter of one method is none of the other.
    let get = shared_service().get("/v1/format?tn=305&column=a").await;
    assert_eq!(get.status(), 400);
}

#[tokio::test]
async fn the_answer_is_of_no_url_and_has_no_entity_tag() {
    let request = shared_service().post("/v1/format", "text/plain", "305 234 5678");
    let response = request.header("if-none-match", "*").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().contains_key("etag"));
    assert_eq!(response.headers()["cache-control"], "private");
}

#[tokio::test]
async fn the_longest_response_is_one_that_lambda_can_answer() {
    /// The longest response of a function, with what Lambda puts around it.
    const MOST_BYTES: usize = 6 * 1024 * 1024;
    let service = shared_service();
    let longest_texts = format!("{}\n", "\u{1}".repeat(523)).repeat(1000);
    let of_sample: String = (0..1000).map(|number| format!("+1212234{number:04}\n")).collect();
    // A name is made for each column of a table that has none.
    let of_columns =
        ",".repeat(999) + "\n" + &format!("{}{}\n", "\u{1}".repeat(522_000), ",".repeat(999));
    let longest_ids = format!("id,tn\n{}", format!("{0},{0}\n", "\u{1}".repeat(261)).repeat(1000));
    for (target, content_type, body) in [
        ("/v1/format?include=all", "text/csv", longest_ids),
        ("/v1/format", "text/plain", longest_texts),
        ("/v1/format", "text/plain", of_sample),
        ("/v1/format?column=1", "text/csv; header=absent", of_columns),
    ] {
        for accept in ["application/json", "application/x-ndjson", "text/csv"] {
            let request = service.post(target, content_type, body.clone());
            let response = request.header("accept", accept).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let text = response.text().await.unwrap();
            let in_event = serde_json::to_string(&text).unwrap().len();
            assert!(in_event + 10_000 < MOST_BYTES, "{accept}: {in_event}");
        }
    }
    let commas = ",".repeat(500_000);
    let refused = post("/v1/format?column=1", "text/csv; header=absent", commas).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let body: Value = refused.json().await.unwrap();
    assert_eq!(body["message"], "The body must have at most 1000 columns, got 500001");
}

/// A service on a database whose items cannot be read as this policy says, with the data in memory.
async fn service_with(fault: Fault) -> Service {
    let sample = Service::with_sample().await;
    let is_loaded = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let loaded = std::sync::Arc::clone(&is_loaded);
    let policy = move |_, operation: &str| match operation {
        "BatchGetItem" if loaded.load(std::sync::atomic::Ordering::SeqCst) => fault,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(sample.database.endpoint(), policy).await;
    let service = Service::behind(&proxy).await;
    service.ok("/v1/carriers?limit=1").await;
    is_loaded.store(true, std::sync::atomic::Ordering::SeqCst);
    // The proxy ends with the runtime of the test.
    std::mem::forget(sample);
    service
}

#[tokio::test]
async fn a_database_that_fails_is_answered_for_from_memory_in_bounded_time() {
    let body: String = (0..300).map(|number| format!("+1212234{number:04}\n")).collect();
    let expected = post("/v1/format", "text/plain", body.clone()).await.text().await.unwrap();
    for fault in [Fault::Dead, Fault::Unprocessed, Fault::Stall, Fault::Throttled] {
        let service = service_with(fault).await;
        let started = std::time::Instant::now();
        let response = service.post("/v1/format", "text/plain", body.clone()).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), expected, "{fault:?}");
        let took = started.elapsed();
        assert!(took < std::time::Duration::from_secs(6), "{fault:?}: {took:?}");
    }
}

#[tokio::test]
async fn many_numbers_need_a_key() {
    let service = shared_service();
    let url = format!("{}/v1/format", service.base_url);
    let request = crate::support::service::http_client().post(url);
    let response = request.header("content-type", "text/plain").body("305").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}
