//! Route tests with a small dataset.

mod block_holders;
pub mod results;

use std::{fmt::Write, time::Duration};

use axum::body::Body;
use serde_json::Value;
use shared::{body::BodyBudget, heavy_work::HeavyWork, state::App};
use test_api::{TestApi, header};

use super::routes;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// Posts a body, and returns the response's status and text. An empty content type means no header.
async fn post(
    target: &str,
    content_type: &str,
    body: impl Into<Body>,
    accept: &str,
) -> (u16, String) {
    let headers = [("accept", accept), ("content-type", content_type)];
    let headers = if content_type.is_empty() { &headers[..1] } else { &headers };
    let response = TestApi::new(routes()).post(target, headers, body).await;
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
async fn countries_are_filtered_by_code_and_calling_code() {
    let api = TestApi::new(routes());
    for (filter, expected) in [
        ("country=gb", ["GB"].as_slice()),
        ("calling_code=44", &["GB", "GG", "IM", "JE"]),
        ("calling_code=44&country=JE", &["JE"]),
        ("calling_code=999", &[]),
    ] {
        let found = api.ok(&format!("/v1/countries?{filter}")).await;
        let codes = found["countries"].as_array().unwrap().iter().map(|it| &it["code"]);
        assert_eq!(codes.collect::<Vec<_>>(), expected, "{filter}");
    }
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/format?tn=",
        "/v1/format?tn=1&defaultCountry=UK",
        "/v1/format/305?include=reason,lines",
        "/v1/format/305?fields=tn_valid",
        "/v1/lookup/4152025678?fields=tn,owner",
        "/v1/lookup/4152025678?fields=carrier.owner",
        "/v1/lookup/4152025678?fields=tn.digits",
        "/v1/lookup/4152025678?fields=carrier.",
        "/v1/lookup/4152025678?fields=Carrier",
        "/v1/format/305?flags=no",
        "/v1/format/305?lang=german%20language",
        "/v1/lookup//",
        "/v1/lookup?tn=21223456789",
        "/v1/lookup?tn=hello",
        "/v1/lookup/8003569377",
        // With a plus sign, this would be a Peruvian number, which has no block.
        "/v1/lookup?tn=+516-607-4335",
        "/v1/lookup?tn=+442079460958",
        "/v1/countries?country=UK",
        "/v1/countries?calling_code=0",
        "/v1/countries?calling_code=1000",
        "/v1/countries/UK/ranges",
        "/v1/countries/GB/ranges",
    ]);
    insta::assert_snapshot!(errors.await);
}

/// Replaces `\
/// `, `\\r`, `\\0` and `\\xHH` with the characters or bytes that they represent.
fn unescape(text: &str) -> Vec<u8> {
    let text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\0", "\0");
    let mut parts = text.split("\\x");
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        let (hexadecimal, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(hexadecimal, 16).unwrap());
        bytes.extend(rest.as_bytes());
    }
    bytes
}

#[tokio::test]
async fn batches_are_accepted_in_every_format() {
    let (mut responses, mut request) = (String::new(), Vec::new());
    for line in include_str!("tests/batches.txt").lines() {
        writeln!(responses, "{line}").unwrap();
        if let Some(columns) = line.strip_prefix("POST ") {
            request = columns.split(" | ").collect();
        } else if !line.is_empty() && !line.starts_with('#') {
            let [target, content_type, accept] = *request else { panic!("{line}") };
            let response = post(target, content_type, unescape(line), accept).await;
            let (status, text) = &response;
            writeln!(responses, "  {status} {}", text.trim_end().replace('\n', "\n  ")).unwrap();
            for line_end in ["\\r\\n", "\\r"] {
                let body = line.replace("\\n", line_end);
                if content_type.starts_with("text/csv") && !line.contains("\\x") {
                    let (status, text) = post(target, content_type, unescape(&body), accept).await;
                    assert_eq!((status, text.replace(line_end, "\\n")), response, "{line}");
                }
            }
        }
    }
    let (api, gzip) = (TestApi::new(routes()), [("content-encoding", "gzip")]);
    let compressed = api.post("/v1/format", &gzip, "").await.body;
    writeln!(responses, "\n## A compressed body\n{}", String::from_utf8_lossy(&compressed))
        .unwrap();
    insta::assert_snapshot!(responses.replace('\r', ""));
}

#[tokio::test]
async fn bodies_have_at_most_1000_numbers_and_512_kb() {
    let send = async |body: Body| post("/v1/format?fields=valid", TEXT, body, JSON).await;
    assert_eq!(send("1\n".repeat(1000).into()).await.0, 200);
    let (status, text) = send("1\n".repeat(1204).into()).await;
    let message =
        "The body must contain at most 1000 numbers, got 1204; send the rest in another request";
    assert!(status == 413 && text.contains(message), "{status} {text}");
    let longest = "1".repeat(512 * 1024);
    assert_eq!(send(longest.clone().into()).await.0, 200);
    let (status, text) = send((longest.clone() + "1").into()).await;
    assert!(text.contains("got 524289; send some of the numbers"), "{status} {text}");
    let parts = [Ok::<_, std::convert::Infallible>(longest), Ok("1".to_owned())];
    let (status, text) = send(Body::from_stream(futures_util::stream::iter(parts))).await;
    assert!(text.contains("at most 524288 bytes, got more"), "{status} {text}");
}

#[tokio::test]
async fn found_and_formatted_numbers_have_the_same_result() {
    let text = "é 📞 415 200 1234,\n+44 20 7946 0958 or (415) 200-2234 ext. 5; 305 155 0000.";
    let query = "include=all&fields=&flags=true";
    let (_, body) = post(&format!("/v1/find?{query}"), TEXT, text, JSON).await;
    let body: Value = serde_json::from_str(&body).unwrap();
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

/// The statuses of requests with a number, a batch and text with this many numbers. A busy server may reject them.
async fn statuses_of_requests_to(app: App, count: usize) -> [u16; 3] {
    let api = TestApi::on(routes(), app);
    let (headers, body) = ([("content-type", TEXT)], "415\n".repeat(count));
    let responses = [
        api.get("/v1/format?tn=4152001234", &[]).await,
        api.post("/v1/format", &headers, body.clone()).await,
        api.post("/v1/find", &headers, body).await,
    ];
    responses.map(|response| {
        if !response.status.is_success() {
            assert_eq!(header(&response.headers, "retry-after"), "5");
        }
        response.status.as_u16()
    })
}

#[tokio::test]
async fn single_numbers_are_formatted_while_large_requests_are_rejected() {
    let mut busy = test_api::app();
    busy.heavy_work = HeavyWork::new(0, Duration::ZERO);
    assert_eq!(statuses_of_requests_to(busy.clone(), 200).await, [200, 503, 503]);
    assert_eq!(statuses_of_requests_to(busy, 10).await, [200; 3], "they are small");
    let mut no_memory = test_api::app();
    no_memory.bodies = BodyBudget::new(0);
    assert_eq!(statuses_of_requests_to(no_memory, 1).await, [200, 503, 503]);
    assert_eq!(statuses_of_requests_to(test_api::app(), 200).await, [200; 3]);
}
