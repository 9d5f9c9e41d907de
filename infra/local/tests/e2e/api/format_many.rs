//! `POST /v1/format`.

use futures_util::{StreamExt, stream};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{numbers_of_the_world::numbers_of_the_world, service::shared_service};

async fn post(target: &str, content_type: &str, body: impl Into<reqwest::Body>) -> Response {
    shared_service().post(target, content_type, body).send().await.unwrap()
}

/// The response body for these numbers in the given format.
async fn text_of(query: &str, numbers: &Value, accept: &str) -> String {
    let target = format!("/v1/format?{query}");
    let request = shared_service().post(&target, "application/json", numbers.to_string());
    let response = request.header("accept", accept).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{target}");
    response.text().await.unwrap()
}

#[tokio::test]
async fn unreadable_bodies_are_refused_whole() {
    for (query, content_type, body, status, message) in [
        ("", "text/plain", "1\n".repeat(1001), 413, "The body must have at most 1000 numbers"),
        ("", "text/plain", "1".repeat(524_289), 413, "The body must have at most 524288 bytes"),
        ("", "", "tn=1".to_owned(), 415, "Content-Type must be application/json, text/plain or"),
        ("?column=a", "text/plain", "305".to_owned(), 400, "column is only for a body of text/csv"),
        ("?countryColumn=a", "application/json", "[]".to_owned(), 400, "countryColumn is only for"),
        ("?include=x", "text/plain", "305".to_owned(), 400, "include must list some"),
        ("?tn=305", "text/plain", "305".to_owned(), 400, "Unknown parameter 'tn'"),
    ] {
        let target = &format!("/v1/format{query}");
        let response = post(target, content_type, body).await;
        assert_eq!(response.status(), status, "{message}");
        let body: Value = response.json().await.unwrap();
        assert!(body["message"].as_str().unwrap().starts_with(message), "{body}");
    }
}

#[tokio::test]
async fn batch_results_equal_single_results_byte_for_byte() {
    let service = shared_service();
    let of_sample = (0..60).map(|number| (format!("212234{:04}", number * 163), "US".to_owned()));
    let numbers: Vec<_> = numbers_of_the_world().into_iter().chain(of_sample).collect();
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
            let alone = service.get(&target).await.text().await.unwrap();
            let text = serde_json::to_string(&tn).unwrap();
            assert_eq!(line, format!("{{\"tn\":{text},\"result\":{alone}}}"));
        })
        .await;
}

#[tokio::test]
async fn text_and_csv_bodies_get_the_same_results_as_json() {
    let numbers = ["305 234 5678", "+44 20 7946 0958", "hello"];
    let expected = text_of("", &json!(numbers), "application/json").await;
    for (content_type, body) in [
        ("text/plain", "305 234 5678\r\n+44 20 7946 0958\r\nhello\r\n"),
        ("text/csv", "tn\n305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv; header=absent", "305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv", "a;phone\n1;305 234 5678\n2;+44 20 7946 0958\n3;hello\n"),
    ] {
        let response = post("/v1/format", content_type, body).await;
        assert_eq!(response.status(), StatusCode::OK, "{content_type}");
        assert_eq!(response.text().await.unwrap(), expected, "{content_type}");
    }
}

#[tokio::test]
async fn post_responses_have_no_etag() {
    let request = shared_service().post("/v1/format", "text/plain", "305 234 5678");
    let response = request.header("if-none-match", "*").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().contains_key("etag"));
    assert_eq!(response.headers()["cache-control"], "private");
}

#[tokio::test]
async fn the_longest_response_fits_lambdas_limit() {
    /// Lambda's limit on a response, including its envelope.
    const MAX_BYTES: usize = 6 * 1024 * 1024;
    let service = shared_service();
    let longest_texts = format!("{}\n", "\u{1}".repeat(523)).repeat(1000);
    let of_sample: String = (0..1000).map(|number| format!("+1212234{number:04}\n")).collect();
    // Columns of a table without a header get generated names.
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
            assert!(in_event + 10_000 < MAX_BYTES, "{accept}: {in_event}");
        }
    }
}

#[tokio::test]
async fn fields_apply_to_every_response_format() {
    let query = "fields=carrier.name,valid,formats.e164,reason.code";
    let alone = [
        (
            "305 234 5678",
            r#"{"valid":true,"formats":{"e164":"+13052345678"},"carrier":{"name":"SAMPLE MOBILE USA, INC."},"reason":null}"#,
        ),
        (
            "305 234",
            r#"{"valid":false,"formats":{"e164":"+1305234"},"reason":{"code":"TOO_SHORT"}}"#,
        ),
        ("=hello", r#"{"valid":false,"reason":{"code":"NOT_A_NUMBER"}}"#),
    ];
    for (tn, expected) in alone {
        let target = format!("/v1/format?tn={}&{query}", tn.replace(' ', "%20"));
        assert_eq!(shared_service().ok(&target).await.to_string(), expected);
    }
    let numbers = json!([{ "tn": alone[0].0, "id": "a" }, alone[1].0, alone[2].0, { "id": "=b" }]);
    let error = r#"{"error":"invalid_request","message":"tn is required"}"#;
    let lines = [
        format!(r#"{{"id":"a","tn":"{}","result":{}}}"#, alone[0].0, alone[0].1),
        format!(r#"{{"tn":"{}","result":{}}}"#, alone[1].0, alone[1].1),
        format!(r#"{{"tn":"{}","result":{}}}"#, alone[2].0, alone[2].1),
        format!(r#"{{"id":"=b","tn":"","error":{error}}}"#),
    ];
    let as_lines = text_of(query, &numbers, "application/x-ndjson").await;
    assert_eq!(as_lines, lines.join("\n") + "\n");
    let as_json = text_of(query, &numbers, "application/json").await;
    assert_eq!(as_json, format!("{{\"results\":[{}]}}", lines.join(",")));
    // Cells must not be formulas.
    let csv = "id,tn,tn_valid,tn_e164,tn_carrier_name,tn_reason,tn_error\r\n\
               a,305 234 5678,true,+13052345678,\"SAMPLE MOBILE USA, INC.\",,\r\n\
               ,305 234,false,,,TOO_SHORT,\r\n\
               ,'=hello,false,,,NOT_A_NUMBER,\r\n\
               '=b,,,,,,tn is required\r\n";
    assert_eq!(text_of(query, &numbers, "text/csv").await, csv);
}

#[tokio::test]
async fn csv_has_reason_and_second_number_columns_on_request() {
    let numbers = json!(["305-234-5678 / 212-234-5678"]);
    let csv = text_of("include=reason&fields=&flags=true", &numbers, "text/csv").await;
    let header = csv.lines().next().unwrap();
    assert!(header.ends_with(",tn_is_non_geographic,tn_reason,tn_other,tn_error"), "{header}");
    assert!(csv.ends_with(",TWO_NUMBERS,+12122345678,\r\n"), "{csv}");
}

#[tokio::test]
async fn input_columns_are_refused_only_if_they_clash_with_added_columns() {
    let answer = async |query: &str, accept: &str| {
        let body = "tn,tn_valid,tn_reason\n305 234 5678,true,\n";
        let target = format!("/v1/format?{query}");
        let request = shared_service().post(&target, "text/csv", body).header("accept", accept);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    for (query, column) in [("", "tn_valid"), ("fields=formats,reason", "tn_reason")] {
        let (status, body) = answer(query, "text/csv").await;
        assert_eq!(status, 400, "{query}");
        let message =
            format!("The column '{column}' is one that answers add; rename it or leave it out");
        assert!(body.contains(&message), "{body}");
    }
    assert_eq!(answer("fields=formats", "text/csv").await.0, 200);
    assert_eq!(answer("", "application/json").await.0, 200);
}
