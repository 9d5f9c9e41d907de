//! The parts of format results that come only on request, and those that are left out on request.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::service::{fields, shared_service};

/// The text of an answer to these numbers in a form.
async fn post(query: &str, numbers: &Value, accept: &str) -> String {
    let target = format!("/v1/format?{query}");
    let request = shared_service().post(&target, "application/json", numbers.to_string());
    let response = request.header("accept", accept).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{target}");
    response.text().await.unwrap()
}

async fn text(target: &str) -> String {
    let response = shared_service().get(target).await;
    assert_eq!(response.status(), StatusCode::OK, "{target}");
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_reason_is_the_last_field_and_there_only_if_it_is_asked_for() {
    let service = shared_service();
    for (tn, country, code) in [
        ("305%20234%205678", "US", None),
        ("305%20234", "US", Some("TOO_SHORT")),
        ("234-5678", "US", Some("MISSING_AREA_CODE")),
        ("+999%20305%20234", "US", Some("INVALID_COUNTRY_CODE")),
        ("5.55E%2B09", "US", Some("ROUNDED")),
        ("%20", "US", Some("EMPTY")),
        ("hello", "GB", Some("NOT_A_NUMBER")),
        ("020%207946%200958", "GB", None),
    ] {
        let plain = format!("/v1/format?tn={tn}&defaultCountry={country}");
        let mut full = service.ok(&plain).await;
        assert_eq!(full.get("reason"), None, "{tn}");
        for include in ["reason", "all", "Reason,all"] {
            let body = service.ok(&format!("{plain}&include={include}")).await;
            assert_eq!(fields(&body).last(), Some(&"reason"), "{tn}");
            assert_eq!(body["reason"]["code"].as_str(), code, "{tn}: {body}");
            assert_eq!(body["reason"].is_null(), body["valid"] == true, "{tn}: {body}");
            full["reason"] = body["reason"].clone();
            assert_eq!(body, full);
        }
    }
    let short = service.ok("/v1/format/305%20234?include=reason").await;
    let expected =
        json!({ "code": "TOO_SHORT", "message": "The number has too few digits", "other": null });
    assert_eq!(short["reason"], expected);
}

#[tokio::test]
async fn each_result_of_many_has_its_reason() {
    let numbers =
        json!(["305 234 5678", "305 234", { "tn": "305 234", "defaultCountry": "DE" }, ""]);
    let lines = post("include=reason", &numbers, "application/x-ndjson").await;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<_> =
        lines.iter().map(|line| line["result"]["reason"]["code"].as_str()).collect();
    assert_eq!(codes, [None, Some("TOO_SHORT"), None, None]);
    assert!(lines[3]["error"].is_object() && lines[3].get("result").is_none());
    let csv = post("include=reason", &numbers, "text/csv").await;
    let header = csv.lines().next().unwrap();
    assert!(header.ends_with(",tn_is_non_geographic,tn_reason,tn_other,tn_error"), "{header}");
    assert!(csv.lines().nth(2).unwrap().ends_with(",TOO_SHORT,,"), "{csv}");
}

#[tokio::test]
async fn a_second_number_is_named_beside_the_first_which_stays_valid() {
    let body =
        shared_service().ok("/v1/format?tn=305-234-5678%20/%20212-234-5678&include=reason").await;
    let reason = json!({
        "code": "TWO_NUMBERS", "message": "The text holds a second number", "other": "+12122345678"
    });
    assert_eq!((&body["valid"], &body["reason"]), (&json!(true), &reason));
    assert_eq!(body["formats"]["e164"], "+13052345678");
    let csv = post("include=reason", &json!(["305-234-5678 / 212-234-5678"]), "text/csv").await;
    assert!(csv.ends_with(",TWO_NUMBERS,+12122345678,\r\n"), "{csv}");
}

#[tokio::test]
async fn what_is_not_asked_for_changes_no_byte() {
    let none = "include=&fields=&flags=true";
    let numbers = json!(["305 234 5678", "305 234", "hello", ""]);
    for accept in ["application/json", "application/x-ndjson", "text/csv"] {
        assert_eq!(post(none, &numbers, accept).await, post("", &numbers, accept).await);
    }
    for tn in ["305%20234%205678", "305%20234", "hello"] {
        let plain = text(&format!("/v1/format/{tn}")).await;
        assert_eq!(text(&format!("/v1/format/{tn}?{none}")).await, plain, "{tn}");
    }
    let lookup = "/v1/lookup/2122345678";
    assert_eq!(text(&format!("{lookup}?fields=")).await, text(lookup).await);
}

#[tokio::test]
async fn fields_thin_every_form_of_an_answer_alike() {
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
        ("hello", r#"{"valid":false,"reason":{"code":"NOT_A_NUMBER"}}"#),
    ];
    for (tn, expected) in alone {
        let path = tn.replace(' ', "%20");
        assert_eq!(text(&format!("/v1/format/{path}?{query}")).await, expected);
        assert_eq!(text(&format!("/v1/format?tn={path}&{query}")).await, expected);
    }
    let numbers = json!([{ "tn": alone[0].0, "id": "a" }, alone[1].0, alone[2].0, { "id": "b" }]);
    let error = r#"{"error":"invalid_request","message":"tn is required"}"#;
    let lines = [
        format!(r#"{{"id":"a","tn":"{}","result":{}}}"#, alone[0].0, alone[0].1),
        format!(r#"{{"tn":"{}","result":{}}}"#, alone[1].0, alone[1].1),
        format!(r#"{{"tn":"{}","result":{}}}"#, alone[2].0, alone[2].1),
        format!(r#"{{"id":"b","tn":"","error":{error}}}"#),
    ];
    let as_lines = post(query, &numbers, "application/x-ndjson").await;
    assert_eq!(as_lines, lines.concat().replace("}{", "}\n{") + "\n");
    let as_json = post(query, &numbers, "application/json").await;
    assert_eq!(as_json, format!("{{\"results\":[{}]}}", lines.join(",")));
    let csv = "id,tn,tn_valid,tn_e164,tn_carrier_name,tn_reason,tn_error\r\n\
               a,305 234 5678,true,+13052345678,\"SAMPLE MOBILE USA, INC.\",,\r\n\
               ,305 234,false,,,TOO_SHORT,\r\n\
               ,hello,false,,,NOT_A_NUMBER,\r\n\
               b,,,,,,tn is required\r\n";
    assert_eq!(post(query, &numbers, "text/csv").await, csv);
}

#[tokio::test]
async fn fields_thin_the_lookup_of_a_block() {
    let full = shared_service().ok("/v1/lookup/2122345678").await;
    let thinned = json!({ "status": full["status"], "carrier": { "ocn": full["carrier"]["ocn"] } });
    for target in ["/v1/lookup/2122345678?", "/v1/lookup?tn=2122345678&"] {
        let body = text(&format!("{target}fields=carrier.ocn,status")).await;
        assert_eq!(body, thinned.to_string());
    }
}

#[tokio::test]
async fn flags_are_left_out_on_request_and_where_fields_do_not_name_them() {
    let service = shared_service();
    let full = service.ok("/v1/format/+13052345678").await;
    let mut without = full.clone();
    without.as_object_mut().unwrap().shift_remove("flags");
    for value in ["false", "False"] {
        let body = text(&format!("/v1/format/+13052345678?flags={value}")).await;
        assert_eq!(body, without.to_string());
    }
    let many = post("flags=false", &json!(["+13052345678"]), "application/json").await;
    assert!(!many.contains("flags"), "{many}");
    let state = service.ok("/v1/format/+13052345678?fields=flags.state.svg").await;
    assert_eq!(state, json!({ "flags": { "state": { "svg": full["flags"]["state"]["svg"] } } }));
    let neither = service.ok("/v1/format/+13052345678?fields=flags&flags=false").await;
    assert_eq!(neither, json!({}));
}

#[tokio::test]
async fn unknown_parts_fields_and_switches_are_refused_with_the_known_ones() {
    let service = shared_service();
    for (query, message) in [
        ("include=reasons", "include must list some of reason, all, got 'reasons'"),
        ("include=reason,line", "include must list some of reason, all, got 'line'"),
        ("fields=valid,e164", "Unknown field 'e164'; the fields are carrier, carrier.name, "),
        ("flags=no", "flags must be one of true, false, got 'no'"),
    ] {
        let by_path = service.get(&format!("/v1/format/305?{query}")).await;
        let many = service.post(&format!("/v1/format?{query}"), "text/plain", "305");
        for response in [by_path, many.send().await.unwrap()] {
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{query}");
            let body: Value = response.json().await.unwrap();
            assert!(body["message"].as_str().unwrap().starts_with(message), "{body}");
        }
    }
}
