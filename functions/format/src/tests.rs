//! Route tests with a small dataset.

mod block_holders;
pub mod records;
mod results;

use std::time::Duration;

use axum::{body::Body, extract::Request};
use serde_json::{Value, json};
use shared::{body::BodyBudget, heavy_work::HeavyWork, in_process::InProcess, state::App};
use test_api::{TestApi, header};

use super::routes;

/// Posts a body, and returns the response's status and text.
async fn post(query: &str, content_type: &str, body: &str, accept: &str) -> (u16, String) {
    let headers = [("content-type", content_type), ("accept", accept)];
    let target = format!("/v1/format?{query}");
    let response = TestApi::new(routes()).post(&target, &headers, body.to_owned()).await;
    (response.status.as_u16(), String::from_utf8(response.body.into()).unwrap())
}

/// Posts numbers, and returns the text of the successful response.
async fn post_numbers(query: &str, numbers: &Value, accept: &str) -> String {
    let (status, text) = post(query, "application/json", &numbers.to_string(), accept).await;
    assert_eq!(status, 200, "{text}");
    text
}

#[tokio::test]
async fn lookup_and_format_return_the_same_values() {
    let api = TestApi::new(routes());
    let lookup = api.ok("/v1/lookup/4152025678").await;
    assert_eq!(lookup["carrier"]["name"], "PACIFIC BELL");
    let format = api.ok("/v1/format/4152025678").await;
    for field in ["npa", "nxx", "nxxx", "carrier", "location"] {
        assert_eq!(lookup[field], format[field], "{field}");
    }
    // With a plus sign, this would be a Swiss number.
    assert_eq!(api.ok("/v1/lookup?tn=+4152025678").await["tn"], "4152025678");
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/format?tn=",
        "/v1/format?tn=1&defaultCountry=UK",
        "/v1/format/305?include=reason,lines",
        "/v1/format/305?fields=porting",
        "/v1/format/305?flags=no",
        "/v1/format/305?lang=german%20language",
        "/v1/lookup//",
        "/v1/lookup?tn=21223456789",
        "/v1/lookup?tn=hello",
        "/v1/lookup/8003569377",
        // With a plus sign, this would be a Peruvian number, which has no block.
        "/v1/lookup?tn=+516-607-4335",
        "/v1/lookup?tn=+442079460958",
    ]);
    insta::assert_snapshot!(errors.await);
}

#[tokio::test]
async fn unreadable_bodies_are_rejected_with_their_status() {
    for (query, content_type, body, status, message) in [
        ("", "text/plain", "1\n".repeat(1001), 413, "The body must contain at most 1000 numbers"),
        ("", "x/y", "tn=1".to_owned(), 415, "Content-Type must be application/json, text/plain or"),
        ("column=a", "text/plain", "305".to_owned(), 400, "column requires a text/csv body"),
        ("countryColumn=a", "application/json", "[]".to_owned(), 400, "countryColumn requires a"),
    ] {
        let (actual, text) = post(query, content_type, &body, "application/json").await;
        assert_eq!(actual, status, "{message}");
        assert!(text.contains(&format!("\"message\":\"{message}")), "{text}");
    }
}

#[tokio::test]
async fn text_and_csv_bodies_get_the_same_results_as_json() {
    let numbers = ["305 234 5678", "+44 20 7946 0958", "hello"];
    let expected = post_numbers("", &json!(numbers), "application/json").await;
    for (content_type, body) in [
        ("text/plain", "305 234 5678\r\n+44 20 7946 0958\r\nhello\r\n"),
        ("text/csv", "tn\n305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv; header=absent", "305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv", "a;phone\n1;305 234 5678\n2;+44 20 7946 0958\n3;hello\n"),
    ] {
        let expected = (200, expected.clone());
        assert_eq!(post("", content_type, body, "application/json").await, expected);
    }
}

#[tokio::test]
async fn fields_apply_to_every_response_format() {
    let query = "fields=carrier.name,valid,formats.e164,reason.code";
    let single = [
        (
            "415 202 5678",
            r#"{"valid":true,"formats":{"e164":"+14152025678"},"carrier":{"name":"PACIFIC BELL"},"reason":null}"#,
        ),
        (
            "305 234",
            r#"{"valid":false,"formats":{"e164":"+1305234"},"reason":{"code":"TOO_SHORT"}}"#,
        ),
        ("=hello", r#"{"valid":false,"reason":{"code":"NOT_A_NUMBER"}}"#),
    ];
    for (tn, expected) in single {
        let target = format!("/v1/format?tn={}&{query}", tn.replace(' ', "%20"));
        assert_eq!(TestApi::new(routes()).ok(&target).await.to_string(), expected);
    }
    let numbers =
        json!([{ "tn": single[0].0, "id": "a" }, single[1].0, single[2].0, { "id": "=b" }]);
    let error = r#"{"error":"invalid_request","message":"tn is required"}"#;
    let lines = [
        format!(r#"{{"id":"a","tn":"{}","result":{}}}"#, single[0].0, single[0].1),
        format!(r#"{{"tn":"{}","result":{}}}"#, single[1].0, single[1].1),
        format!(r#"{{"tn":"{}","result":{}}}"#, single[2].0, single[2].1),
        format!(r#"{{"id":"=b","tn":"","error":{error}}}"#),
    ];
    let as_lines = post_numbers(query, &numbers, "application/x-ndjson").await;
    assert_eq!(as_lines, lines.join("\n") + "\n");
    let as_json = post_numbers(query, &numbers, "application/json").await;
    assert_eq!(as_json, format!("{{\"results\":[{}]}}", lines.join(",")));
    // Cells must not be formulas.
    let csv = "id,tn,tn_valid,tn_e164,tn_carrier_name,tn_reason,tn_error\r\n\
               a,415 202 5678,true,+14152025678,PACIFIC BELL,,\r\n\
               ,305 234,false,,,TOO_SHORT,\r\n\
               ,'=hello,false,,,NOT_A_NUMBER,\r\n\
               '=b,,,,,,tn is required\r\n";
    assert_eq!(post_numbers(query, &numbers, "text/csv").await, csv);
}

#[tokio::test]
async fn csv_has_the_columns_of_included_fields_after_the_others() {
    let numbers = json!(["305-234-5678 / 212-234-5678"]);
    let csv = post_numbers("include=line,reason&fields=&flags=true", &numbers, "text/csv").await;
    let header = csv.lines().next().unwrap();
    let columns = ",tn_is_non_geographic,tn_reason,tn_other,tn_line_type,tn_line_basis,\
                   tn_line_may_differ_if_ported,tn_line_everyday_name,tn_error";
    assert!(header.ends_with(columns), "{header}");
    assert!(csv.ends_with(",TWO_NUMBERS,+12122345678,,,,,\r\n"), "{csv}");
    let numbers = json!(["415 202 5678", "+44 20 7946 0958"]);
    let query = "fields=timeZones,callingHours.rule,callingHours.window";
    let expected = "id,tn,tn_time_zones,tn_calling_hours_rule,tn_calling_hours_window_from,\
                    tn_calling_hours_window_to,tn_error\r\n\
                    ,415 202 5678,America/Los_Angeles,47 CFR 64.1200(c)(1),08:00,21:00,\r\n\
                    ,+44 20 7946 0958,Europe/London,,,,\r\n";
    assert_eq!(post_numbers(query, &numbers, "text/csv").await, expected);
}

#[tokio::test]
async fn input_columns_are_rejected_only_if_they_clash_with_result_columns() {
    let body = "tn,=name,tn_valid,tn_reason\n305 234 5678,Ann,true,\n";
    for (query, column) in [("", "tn_valid"), ("fields=formats,reason", "tn_reason")] {
        let (status, text) = post(query, "text/csv", body, "text/csv").await;
        assert_eq!(status, 400, "{query}");
        let message =
            format!("'{column}' has the same name as a result column; rename or remove it");
        assert!(text.contains(&message), "{text}");
    }
    assert_eq!(post("", "text/csv", body, "application/json").await.0, 200);
    let (status, csv) = post("fields=formats", "text/csv", body, "text/csv").await;
    // Column names that look like formulas are escaped.
    assert!(status == 200 && csv.starts_with("tn,'=name,tn_valid,tn_reason,tn_e164,"), "{csv}");
}

/// Posts a text, and returns the response's status and body.
async fn find(query: &str, text: &str) -> (u16, Value) {
    let headers = [("content-type", "text/plain")];
    let target = format!("/v1/find?{query}");
    let response = TestApi::new(routes()).post(&target, &headers, text.to_owned()).await;
    (response.status.as_u16(), serde_json::from_slice(&response.body).unwrap())
}

#[tokio::test]
async fn found_numbers_have_the_same_result_as_when_formatted() {
    let text = "é 📞 415 200 1234,\n+44 20 7946 0958 or (415) 200-2234 ext. 5; 305 155 0000.";
    let query = "include=all&fields=&flags=true";
    let (status, body) = find(query, text).await;
    assert_eq!(status, 200, "{body}");
    let characters: Vec<char> = text.chars().collect();
    let found = body["results"].as_array().unwrap();
    for number in found {
        let position = |name: &str| usize::try_from(number[name].as_u64().unwrap()).unwrap();
        let tn: String = characters[position("start")..position("end")].iter().collect();
        assert_eq!(number["tn"], tn);
        let tn = tn.replace(' ', "%20").replace('+', "%2B");
        let mut formatted = TestApi::new(routes()).ok(&format!("/v1/format?tn={tn}&{query}")).await;
        let mut result = number["result"].clone();
        for result in [&mut formatted, &mut result] {
            result.as_object_mut().unwrap().remove("timeZones");
        }
        assert_eq!(result, formatted);
    }
    let e164: Vec<_> = found.iter().map(|it| it["result"]["input"].as_str().unwrap()).collect();
    assert_eq!(e164, ["+14152001234", "+442079460958", "+14152002234"]);
}

#[tokio::test]
async fn a_json_text_is_an_object_without_other_fields() {
    let headers = [("content-type", "application/json")];
    for (body, status) in [
        (r#"{"text": "305 234 5678"}"#, 200),
        (r#"{"text": "305 234 5678", "leniency": "valid"}"#, 400),
        (r#"{"tn": "305 234 5678"}"#, 400),
        (r#"{"text": 3052345678}"#, 400),
        (r#"{"text": null}"#, 400),
        ("{}", 400),
        (r#""305 234 5678""#, 400),
    ] {
        let response = TestApi::new(routes()).post("/v1/find", &headers, body.to_owned()).await;
        assert_eq!(response.status, status, "{body}");
    }
}

#[tokio::test]
async fn texts_have_at_most_1000_numbers() {
    assert_eq!(find("fields=valid", &"4152001234\n".repeat(1000)).await.0, 200);
    let (status, body) = find("", &"4152001234\n".repeat(1001)).await;
    let message = "The text must contain at most 1000 numbers, got more; send the text in parts";
    assert_eq!((status, body["message"].as_str()), (413, Some(message)));
}

/// The statuses of a number, a batch and a text with this many numbers, which may be rejected because the server is busy.
async fn statuses_of_requests_to(app: App, count: usize) -> [u16; 3] {
    let routes = InProcess::new([routes()], app);
    let number = Request::get("/v1/format?tn=4152001234").body(Body::empty());
    let post = |path: &str| Request::post(path).header("content-type", "text/plain");
    let [batch, text] =
        ["/v1/format", "/v1/find"].map(|path| post(path).body("415\n".repeat(count).into()));
    let mut statuses = [0; 3];
    for (status, request) in statuses.iter_mut().zip([number, batch, text]) {
        let response = routes.send(request.unwrap()).await;
        if !response.status.is_success() {
            assert_eq!(header(&response.headers, "retry-after"), "5");
        }
        *status = response.status.as_u16();
    }
    statuses
}

#[tokio::test]
async fn single_numbers_are_formatted_while_the_server_rejects_large_requests() {
    let mut busy = test_api::app();
    busy.heavy_work = HeavyWork::new(0, Duration::ZERO);
    assert_eq!(statuses_of_requests_to(busy.clone(), 200).await, [200, 503, 503]);
    assert_eq!(statuses_of_requests_to(busy, 10).await, [200; 3], "they are small");
    let mut no_memory = test_api::app();
    no_memory.bodies = BodyBudget::new(0);
    assert_eq!(statuses_of_requests_to(no_memory, 1).await, [200, 503, 503]);
    assert_eq!(statuses_of_requests_to(test_api::app(), 200).await, [200; 3]);
}
