//! Bodies that end too early or are not in chunks as they say, over a real socket.

use std::net::Shutdown;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::service::{KEY, shared_service};

/// The status and the body of the answer to a `POST` with these headers and bytes, after which the client
/// sends no more.
async fn answer(path: &str, header: &str, body: &str) -> (u16, Value) {
    let address = shared_service().base_url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\n\
         content-type: application/json\r\n{header}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let stream = stream.into_std().unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut stream = TcpStream::from_std(stream).unwrap();
    let mut response = Vec::new();
    // The server may close a connection on which it expects more.
    _ = stream.read_to_end(&mut response).await;
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap())
}

const CHUNKED: &str = "transfer-encoding: chunked";

#[tokio::test]
async fn a_broken_or_truncated_body_is_a_bad_request() {
    let message = "The body must be complete, and its chunks must be well-formed";
    for (header, body) in [
        (CHUNKED, "5\r\n[\"305\r\nno size\r\n"),
        (CHUNKED, "5\r\n[\"305"),
        (CHUNKED, "5\r\n[\"305\r\n"),
        (CHUNKED, ""),
        ("content-length: 100", "[\"305\"]"),
    ] {
        let (status, answered) = answer("/v1/format", header, body).await;
        assert_eq!(status, 400, "{body:?}: {answered}");
        assert_eq!(answered["error"], "invalid_request", "{body:?}");
        assert_eq!(answered["message"], message, "{body:?}");
        let (status, answered) = answer("/mcp", header, body).await;
        assert_eq!(status, 400, "{body:?}: {answered}");
        assert_eq!(answered["error"]["message"], message, "{body:?}");
    }
}

#[tokio::test]
async fn a_chunked_body_that_is_too_long_is_still_told_from_it() {
    let chunk = |length: usize| format!("{length:x}\r\n{}\r\n0\r\n\r\n", " ".repeat(length));
    assert_eq!(answer("/v1/format", CHUNKED, &chunk(524_289)).await.0, 413);
    assert_eq!(answer("/mcp", CHUNKED, &chunk(65_537)).await.0, 413);
}
