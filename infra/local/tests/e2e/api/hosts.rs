//! The host that a request names over a port of the server, as a client writes it into a socket.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::service::{KEY, shared_service};

/// The status and body of the answer to a request with these lines after the first.
async fn answer_to(target: &str, version: &str, hosts: &[&str]) -> (u16, Value) {
    let address = shared_service().base_url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
    let request = format!(
        "GET {target} HTTP/{version}\r\n{hosts}X-API-Key: {KEY}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

const NUMBER: &str = "/v1/format/+13052345678";

#[tokio::test]
async fn a_missing_repeated_or_invalid_host_is_a_400_that_does_not_echo_it() {
    let message =
        "Host must be sent exactly once, as a name or an IP address with an optional port";
    let refusal = json!({ "error": "invalid_request", "message": message });
    for (version, hosts) in [
        ("1.1", &[][..]),
        ("1.1", &["a.example", "a.example"]),
        ("1.1", &["a.example", "b.example"]),
        ("1.1", &[""]),
        ("1.1", &["a\"><script>"]),
        ("1.1", &["user@a.example"]),
        ("1.0", &["a.example", "b.example"]),
        ("1.0", &["a\"><script>"]),
    ] {
        let answer = answer_to(NUMBER, version, hosts).await;
        assert_eq!(answer, (400, refusal.clone()), "{version} {hosts:?}");
    }
}

#[tokio::test]
async fn without_a_host_in_http_1_0_an_answer_has_no_flags() {
    let (status, answer) = answer_to(NUMBER, "1.0", &[]).await;
    assert_eq!((status, &answer["valid"], &answer["country"]), (200, &json!(true), &json!("US")));
    assert!(answer.get("flags").is_none(), "{answer}");
}

#[tokio::test]
async fn health_is_answered_whatever_address_the_host_is() {
    for (version, hosts) in [
        ("1.0", &[][..]),
        ("1.1", &["127.0.0.1:3000"]),
        ("1.1", &["10.0.0.5"]),
        ("1.1", &["[::1]:3000"]),
        ("1.1", &["tnr"]),
    ] {
        let (status, health) = answer_to("/health", version, hosts).await;
        assert_eq!((status, &health["status"]), (200, &json!("healthy")), "{version} {hosts:?}");
    }
}

#[tokio::test]
async fn flags_lead_to_the_authority_of_the_target_before_the_host() {
    let target = format!("http://a.example:8080{NUMBER}");
    let (_, answer) = answer_to(&target, "1.1", &["b.example"]).await;
    let svg = answer["flags"]["country"]["svg"].as_str().unwrap();
    assert!(svg.starts_with("http://a.example:8080/flags/"), "{svg}");
}
