//! Requests written straight to a socket, with odd hosts or broken bodies.

use std::net::Shutdown;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::service::{KEY, shared_service};

/// Connects, and sends these bytes.
async fn connect_and_send(request: &str) -> TcpStream {
    let address = shared_service().base_url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// The status and body of the response on a connection.
async fn read_response(mut stream: TcpStream) -> (u16, Value) {
    let mut response = Vec::new();
    // The server may close the connection early.
    _ = stream.read_to_end(&mut response).await;
    let response = String::from_utf8(response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}")))
}

#[tokio::test]
async fn invalid_hosts_get_a_400_and_missing_ones_no_links() {
    let send = async |version: &str, hosts: &str| {
        let head = format!("GET /v1/format/+13052345678 HTTP/{version}\r\n{hosts}X-API-Key: {KEY}");
        read_response(connect_and_send(&format!("{head}\r\nConnection: close\r\n\r\n")).await).await
    };
    let message =
        "Host must be sent exactly once, as a name or an IP address with an optional port";
    let rejection = json!({ "error": "invalid_request", "message": message });
    for (version, hosts) in [("1.1", ""), ("1.0", "Host: a\"><script>\r\n")] {
        assert_eq!(send(version, hosts).await, (400, rejection.clone()), "{version} {hosts}");
    }
    let (status, response) = send("1.0", "").await;
    assert_eq!((status, &response["country"]), (200, &json!("US")));
    assert!(response.get("flags").is_none(), "no address to link to: {response}");
}

/// The response to a truncated `POST` with this header and body.
async fn response_to_post(path: &str, header: &str, body: &str) -> (u16, Value) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {KEY}\r\n\
         content-type: application/json\r\n{header}\r\n\r\n"
    );
    let stream = connect_and_send(&format!("{head}{body}")).await.into_std().unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    read_response(TcpStream::from_std(stream).unwrap()).await
}

const CHUNKED: &str = "transfer-encoding: chunked";

#[tokio::test]
async fn broken_and_truncated_bodies_are_bad_requests() {
    let message = json!("The body must be complete, and its chunks must be well-formed");
    for (header, body) in [
        (CHUNKED, "5\r\n[\"305\r\nno size\r\n"),
        (CHUNKED, "5\r\n[\"305\r\n"),
        ("content-length: 100", "[\"305\"]"),
    ] {
        let (status, response) = response_to_post("/v1/format", header, body).await;
        assert_eq!((status, &response["message"]), (400, &message), "{body:?}: {response}");
        let (status, response) = response_to_post("/mcp", header, body).await;
        assert_eq!((status, &response["error"]["message"]), (400, &message), "{body:?}");
    }
}

#[tokio::test]
async fn oversized_chunked_bodies_get_a_413() {
    let chunk = |length: usize| format!("{length:x}\r\n{}\r\n0\r\n\r\n", " ".repeat(length));
    assert_eq!(response_to_post("/v1/format", CHUNKED, &chunk(524_289)).await.0, 413);
    assert_eq!(response_to_post("/mcp", CHUNKED, &chunk(65_537)).await.0, 413);
}
