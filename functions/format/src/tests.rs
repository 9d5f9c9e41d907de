//! Route tests with a small dataset.

mod block_holders;
pub mod results;

use std::{fmt::Write, time::Duration};

use axum::{body::Body, extract::Request};
use serde_json::Value;
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

const JSON: &str = "application/json";
const CSV: &str = "text/csv";

#[tokio::test]
async fn text_and_csv_bodies_get_the_same_results_as_json() {
    let numbers = r#"["305 234 5678", "+44 20 7946 0958", "hello"]"#;
    let expected = post("", JSON, numbers, JSON).await;
    for (content_type, body) in [
        ("text/plain", "305 234 5678\r\n+44 20 7946 0958\r\nhello\r\n"),
        (CSV, "tn\n305 234 5678\n+44 20 7946 0958\nhello\n"),
        ("text/csv; header=absent", "305 234 5678\n+44 20 7946 0958\nhello\n"),
        (CSV, "a;phone\n1;305 234 5678\n2;+44 20 7946 0958\n3;hello\n"),
    ] {
        assert_eq!(post("", content_type, body, JSON).await, expected);
    }
}

/// Fields apply to every format, and no cell or column name is a formula. Input columns are rejected only if they clash
/// with result columns.
#[tokio::test]
async fn batches_in_every_format() {
    let many = "1\n".repeat(1001);
    let fields = "fields=carrier.name,valid,formats.e164,reason.code";
    let numbers = r#"[{ "tn": "415 202 5678", "id": "a" }, "305 234", "=hello", { "id": "=b" }]"#;
    let two_numbers = r#"["305-234-5678 / 212-234-5678"]"#;
    let in_zones = r#"["415 202 5678", "+44 20 7946 0958"]"#;
    let zones = "fields=timeZones,callingHours.rule,callingHours.window";
    let clash = "tn,=name,tn_valid,tn_reason\n305 234 5678,Ann,true,\n";
    let mut responses = String::new();
    for (query, content_type, body, accept) in [
        (fields, JSON, numbers, "application/x-ndjson"),
        (fields, JSON, numbers, JSON),
        (fields, JSON, numbers, CSV),
        ("include=line,reason&fields=&flags=true", JSON, two_numbers, CSV),
        (zones, JSON, in_zones, CSV),
        ("", CSV, clash, CSV),
        ("fields=formats,reason", CSV, clash, CSV),
        ("fields=formats", CSV, clash, CSV),
        ("fields=valid", CSV, clash, JSON),
        ("", "text/plain", &many, JSON),
        ("", "x/y", "tn=1", JSON),
        ("column=a", "text/plain", "305", JSON),
        ("countryColumn=a", JSON, "[]", JSON),
    ] {
        let (status, text) = post(query, content_type, body, accept).await;
        writeln!(responses, "POST {query} as {content_type}: {status} {accept}").unwrap();
        writeln!(responses, "{}\n", text.trim_end().replace('\r', "")).unwrap();
    }
    insta::assert_snapshot!(responses);
}

#[tokio::test]
async fn a_single_number_has_the_same_fields_as_in_a_batch() {
    let query = "fields=carrier.name,valid,formats.e164,reason.code";
    for tn in ["415 202 5678", "305 234", "=hello"] {
        let target = format!("/v1/format?tn={}&{query}", tn.replace(' ', "%20"));
        let single = TestApi::new(routes()).ok(&target).await;
        let (_, batch) = post(query, "text/plain", tn, "application/x-ndjson").await;
        let batch: Value = serde_json::from_str(&batch).unwrap();
        assert_eq!(batch["result"].to_string(), single.to_string());
    }
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
