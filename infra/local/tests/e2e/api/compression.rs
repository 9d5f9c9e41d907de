//! Compressed responses.

use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::Method;

use crate::support::service::{KEY, header, shared_service};

const LONG: &str = "/v1/npa/415?limit=100";
const SHORT: &str = "/v1/npa/415?limit=1";

#[tokio::test]
async fn long_bodies_are_compressed_as_negotiated_and_otherwise_unchanged() {
    let service = shared_service();
    let plain = service.get(LONG).await;
    let headers = plain.headers().clone();
    let plain = plain.bytes().await.unwrap();
    for (accepted, expected) in [
        ("gzip, deflate, br, zstd", "gzip"),
        ("identity", ""),
        // An unsatisfiable preference is ignored.
        ("*;q=0", ""),
    ] {
        let response = service.get_with(LONG, "accept-encoding", accepted).await;
        assert_eq!(response.status(), 200, "{accepted}");
        assert_eq!(header(response.headers(), "content-encoding"), expected, "{accepted}");
        for name in ["etag", "vary", "cache-control", "link"] {
            assert_eq!(header(response.headers(), name), header(&headers, name), "{accepted}");
        }
        let mut body = response.bytes().await.unwrap().to_vec();
        if expected == "gzip" {
            assert!(body.len() < plain.len() / 3, "{accepted}: {}", body.len());
            let compressed = std::mem::take(&mut body);
            GzDecoder::new(&*compressed).read_to_end(&mut body).unwrap();
        }
        assert!(body == plain, "{accepted}");
    }
}

#[tokio::test]
async fn short_bodies_are_not_compressed() {
    for path in [SHORT, "/v1/npa/41", "/health"] {
        let response = shared_service().get_with(path, "accept-encoding", "gzip").await;
        assert_eq!(header(response.headers(), "content-encoding"), "", "{path}");
        assert!(response.text().await.unwrap().starts_with('{'), "{path}");
    }
}

#[tokio::test]
async fn head_returns_the_headers_of_get_without_a_body() {
    let service = shared_service();
    for (path, accepted) in [(LONG, "gzip"), (LONG, "identity"), (SHORT, "gzip")] {
        let get = service.get_with(path, "accept-encoding", accepted).await;
        let head = service.request_with(Method::HEAD, path).header("accept-encoding", accepted);
        let head = head.bearer_auth(KEY).send().await.unwrap();
        for (name, value) in get.headers() {
            let differs_by_request = ["x-request-id", "date", "transfer-encoding"];
            if !differs_by_request.contains(&name.as_str()) {
                assert_eq!(head.headers().get(name), Some(value), "{path}: {name}");
            }
        }
        assert!(head.bytes().await.unwrap().is_empty(), "{path}");
    }
}
