//! Compressed responses.

use std::io::Read;

use axum::http::HeaderMap;
use flate2::read::GzDecoder;
use reqwest::{Method, Response, StatusCode};

use crate::support::service::{KEY, Service, http_client, shared_service};

const LONG: &str = "/v1/npa/415?limit=100";
const SHORT: &str = "/v1/npa/415?limit=1";

async fn accepting(service: &Service, method: Method, path: &str, accepted: &str) -> Response {
    let request = http_client().request(method, format!("{}{path}", service.base_url));
    request.bearer_auth(KEY).header("accept-encoding", accepted).send().await.unwrap()
}

fn coding(headers: &HeaderMap) -> Option<&str> {
    headers.get("content-encoding").map(|value| value.to_str().unwrap())
}

fn decoded(coding: Option<&str>, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match coding {
        Some("gzip") => GzDecoder::new(body).read_to_end(&mut plain).unwrap(),
        Some(other) => panic!("{other}"),
        None => return body.to_vec(),
    };
    plain
}

#[tokio::test]
async fn a_long_body_is_compressed_as_the_client_prefers() {
    let service = shared_service();
    let plain = service.get(LONG).await.bytes().await.unwrap();
    for (accepted, expected) in [
        ("gzip, deflate, br, zstd", Some("gzip")),
        ("GZIP;q=0.5", Some("gzip")),
        ("br;q=0, *", Some("gzip")),
        ("br", None),
        ("identity;q=0, gzip", Some("gzip")),
        ("deflate, zstd", None),
        ("identity", None),
        ("gzip;q=0", None),
        // What cannot be fulfilled is answered all the same.
        ("identity;q=0", None),
        ("*;q=0", None),
    ] {
        let response = accepting(service, Method::GET, LONG, accepted).await;
        assert_eq!(response.status(), StatusCode::OK, "{accepted}");
        let headers = response.headers().clone();
        assert_eq!(coding(&headers), expected, "{accepted}");
        let body = response.bytes().await.unwrap();
        assert!(expected.is_none() || body.len() < plain.len() / 3, "{accepted}: {}", body.len());
        assert!(decoded(expected, &body) == plain, "{accepted}");
    }
}

#[tokio::test]
async fn a_short_body_is_not_compressed() {
    let service = shared_service();
    for path in [SHORT, "/v1/npa/41", "/health"] {
        let response = accepting(service, Method::GET, path, "gzip").await;
        assert_eq!(coding(response.headers()), None, "{path}");
        assert!(response.json::<serde_json::Value>().await.unwrap().is_object(), "{path}");
    }
}

#[tokio::test]
async fn a_response_has_the_same_tag_and_vary_however_it_is_compressed() {
    let service = shared_service();
    let plain = service.get(LONG).await;
    for accepted in ["gzip", "identity"] {
        let response = accepting(service, Method::GET, LONG, accepted).await;
        for name in ["etag", "vary", "cache-control", "link"] {
            let values = response.headers().get_all(name).iter();
            assert!(values.eq(plain.headers().get_all(name)), "{accepted}: {name}");
        }
    }
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_no_body() {
    let service = shared_service();
    for (path, accepted) in [(LONG, "gzip"), (LONG, "identity"), (SHORT, "gzip")] {
        let of_get = accepting(service, Method::GET, path, accepted).await.headers().clone();
        let head = accepting(service, Method::HEAD, path, accepted).await;
        for (name, value) in &of_get {
            let differs_by_request = ["x-request-id", "date", "transfer-encoding"];
            if !differs_by_request.contains(&name.as_str()) {
                assert_eq!(head.headers().get(name), Some(value), "{path}: {name}");
            }
        }
        assert!(head.bytes().await.unwrap().is_empty(), "{path}");
    }
}
