//! The answer for a number is the same to the byte however the request arrives: with the number in
//! the path or the query, through an HTTP API, a REST API, `cargo lambda watch` or the local
//! server.

use axum::body::to_bytes;
use form_urlencoded::Serializer;
use lambda_http::Service as _;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};
use shared::{app::lambda, state::App};

use crate::support::{
    api_events::{HOST, http_api_event},
    sample_requests::SampleRequest,
    service::{KEY, shared_service},
};

/// Numbers as a client may write them into a path; in a query they stand decoded.
const WRITTEN: [&str; 18] = [
    "+13052345678",
    "%2B13052345678",
    "+1%20(305)%20234-5678",
    "(305)%20234-5678",
    "%28305%29234-5678",
    "305%2F234%2F5678",
    "3052345678%23",
    "3052345678%3F",
    "3052345678%25",
    "%25",
    "3052345678%2541",
    "%3F3052345678",
    "%233052345678%2F",
    "tel:+1-305-234-5678;ext=5",
    "tel%3A%2B1-305-234-5678%3Bext%3D5",
    "%EF%BC%93%EF%BC%90%EF%BC%952345678",
    "3052345678%26x=1",
    "+1%20305%20234%205678%20x%205",
];

fn decoded(written: &str) -> String {
    percent_decode_str(written).decode_utf8().unwrap().into_owned()
}

/// The event of an HTTP API: the path decoded, and the parameter whole.
fn http_api_event_of(written: &str) -> Value {
    http_api_event(&SampleRequest::get(format!("/v1/format/{written}?cache=true")))
}

/// The event of `cargo lambda watch`: that of an HTTP API, but with the path as it was written.
fn watch_event(written: &str) -> Value {
    let mut event = http_api_event_of(written);
    event["rawPath"] = json!(format!("/v1/format/{written}"));
    event["routeKey"] = json!("$default");
    event["requestContext"]["routeKey"] = json!("$default");
    event["pathParameters"] = json!({});
    event
}

/// The event of a REST API: the path as it was written.
fn rest_api_event(written: &str) -> Value {
    let path = format!("/v1/format/{written}");
    json!({
        "resource": "/v1/format/{tn+}", "path": path, "httpMethod": "GET",
        "headers": { "Authorization": format!("Bearer {KEY}"), "Host": "api.example.com" },
        "multiValueHeaders": { "Authorization": [format!("Bearer {KEY}")], "Host": ["api.example.com"] },
        "queryStringParameters": null, "multiValueQueryStringParameters": null,
        "pathParameters": { "tn": written },
        "stageVariables": null, "body": null, "isBase64Encoded": false,
        "requestContext": {
            "resourcePath": "/v1/format/{tn+}", "httpMethod": "GET", "path": path, "stage": "prod", "domainName": HOST,
            "protocol": "HTTP/1.1", "identity": {}, "requestTimeEpoch": 0, "apiId": "a", "accountId": "1",
            "resourceId": "r", "requestId": "i"
        }
    })
}

async fn through_lambda(event: &Value) -> Vec<u8> {
    let app = App::on(shared_service().database.serving_store().await);
    let request = lambda_http::request::from_str(&event.to_string()).unwrap();
    let response = lambda(format::routes(), app).call(request).await.unwrap();
    to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()
}

async fn through_http(path: &str) -> Vec<u8> {
    shared_service().get(path).await.bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn a_number_is_answered_the_same_however_it_arrives() {
    for written in WRITTEN {
        let encoded = utf8_percent_encode(&decoded(written), NON_ALPHANUMERIC).to_string();
        let expected = through_http(&format!("/v1/format?tn={encoded}")).await;
        let body: Value = serde_json::from_slice(&expected).unwrap();
        assert!(body["valid"].is_boolean(), "{written}: {body}");
        let ways = [
            ("path", through_http(&format!("/v1/format/{written}")).await),
            ("encoded path", through_http(&format!("/v1/format/{encoded}")).await),
            ("HTTP API", through_lambda(&http_api_event_of(written)).await),
            ("watch", through_lambda(&watch_event(written)).await),
            ("REST API", through_lambda(&rest_api_event(written)).await),
        ];
        for (way, answer) in ways {
            let (answer, expected) =
                (String::from_utf8_lossy(&answer), String::from_utf8_lossy(&expected));
            assert_eq!(answer, expected, "{written} by {way}");
        }
    }
}

#[tokio::test]
async fn a_query_is_answered_the_same_through_every_gateway() {
    for tn in
        ["+13052345678", "+1 (305) 234-5678", "305/234/5678#", "%41", "tel:+1-305-234-5678;ext=5"]
    {
        let encoded = utf8_percent_encode(tn, NON_ALPHANUMERIC).to_string();
        let expected = through_http(&format!("/v1/format/{encoded}")).await;
        let http_api = http_api_event(&SampleRequest::get(format!("/v1/format?tn={encoded}")));
        let mut rest_api = rest_api_event("");
        rest_api["path"] = json!("/v1/format");
        rest_api["queryStringParameters"] = json!({ "tn": tn });
        rest_api["multiValueQueryStringParameters"] = json!({ "tn": [tn] });
        for (way, answer) in [
            ("HTTP API", through_lambda(&http_api).await),
            ("REST API", through_lambda(&rest_api).await),
        ] {
            let (answer, expected) =
                (String::from_utf8_lossy(&answer), String::from_utf8_lossy(&expected));
            assert_eq!(answer, expected, "{tn} by {way}");
        }
    }
}

/// Forms write a space as a plus, and phone numbers begin with one.
#[tokio::test]
async fn a_plus_in_a_query_begins_a_number_and_is_a_space_elsewhere() {
    let service = shared_service();
    let of_form = Serializer::new(String::new()).append_pair("tn", "+1 305 234 5678 x5").finish();
    for query in ["tn=+1+305+234+5678+x5", "tn=+1%20305%20234%205678%20x5", of_form.as_str()] {
        let body = service.ok(&format!("/v1/format?{query}")).await;
        assert_eq!(
            (&body["input"], &body["extension"]),
            (&json!("+13052345678"), &json!("5")),
            "{query}"
        );
    }
    for query in ["tn=tel:+1-305-234-5678", "tn=(+1)305-234-5678"] {
        assert_eq!(
            service.ok(&format!("/v1/format?{query}")).await["input"],
            "+13052345678",
            "{query}"
        );
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_are_answered_in_json() {
    let service = shared_service();
    for path in ["/v1/format/%FF%FE", "/v1/format?tn=%FF%FE"] {
        let body = service.ok(path).await;
        assert_eq!(body, json!({ "valid": false, "possible": false, "input": "\u{fffd}\u{fffd}" }));
    }
    let message = "npa must be exactly 3 digits, got '4\u{fffd}5'";
    service.assert_error("/v1/npa/4%FF5", 400, "invalid_request", message).await;
    let message = "ocn must be exactly 4 alphanumeric characters, got '\u{fffd}'";
    service.assert_error("/v1/carrier/%FF", 400, "invalid_request", message).await;
}
