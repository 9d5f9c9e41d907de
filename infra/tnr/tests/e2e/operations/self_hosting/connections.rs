//! Sends requests directly over a socket: idle, incomplete and excess connections, odd hosts, and broken bodies.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::support::{databases::sample_folder, program::Server, service::KEY};

/// Less than the default timeouts.
const MAX_WAIT: Duration = Duration::from_secs(30);

const COMPLETE: &str = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const INCOMPLETE: &str = "GET /health HTTP/1.1\r\nHost: x\r\n";
const CHUNKED: &str = "Transfer-Encoding: chunked";

/// A server with these options, and its temporary folder.
async fn start_server(options: &[&str]) -> (Server, TempDir) {
    let data_dir = sample_folder();
    (Server::on(&data_dir, &[options, &["--key", KEY]].concat()).await, data_dir)
}

/// Connects, and sends `text`.
fn connect(server: &Server, text: &str) -> TcpStream {
    let address = server.base_url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
    // The server may close the connection early.
    _ = stream.write_all(text.as_bytes());
    stream
}

/// The first bytes of a response; empty if the connection closed.
fn read_response(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let length = stream.read(&mut buffer).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

/// A `POST` request whose body may be incomplete.
fn post(path: &str, key: &str, header: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\n{header}\r\n\r\n{body}"
    )
}

fn assert_closed_after_a_second(started: Instant) {
    let elapsed = started.elapsed();
    assert!((Duration::from_secs(1)..MAX_WAIT).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test]
async fn slow_requests_time_out_sooner_than_idle_connections() {
    let options = ["--request-timeout", "1", "--idle-timeout", "4"];
    let (server, _data_dir) = start_server(&options).await;
    let mut idle = connect(&server, COMPLETE);
    assert!(read_response(&mut idle).starts_with("HTTP/1.1 200 "));
    let responded = Instant::now();
    let mut incomplete: Vec<TcpStream> = (0..300).map(|_| connect(&server, INCOMPLETE)).collect();
    incomplete.push(connect(&server, ""));
    incomplete.push(connect(&server, &post("/v1/format", KEY, "Content-Length: 100", "[")));
    assert_eq!(server.get("/v1/npa/415?limit=1").await["npa"], "415");
    for stream in &mut incomplete {
        let response = read_response(stream);
        assert!(response.is_empty() || response.starts_with("HTTP/1.1 400 "), "{response}");
    }
    assert_closed_after_a_second(responded);

    let started = Instant::now();
    let mut stream = connect(&server, INCOMPLETE);
    // The system reports a closed connection only after several writes.
    while stream.write_all(b"a").is_ok() {
        assert!(started.elapsed() < MAX_WAIT);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_closed_after_a_second(started);

    assert_eq!(read_response(&mut idle), "");
    let open = responded.elapsed();
    assert!((Duration::from_millis(3500)..MAX_WAIT).contains(&open), "{open:?}");
}

#[tokio::test]
async fn excess_connections_wait_until_another_closes() {
    let (server, _data_dir) = start_server(&["--max-connections", "2"]).await;
    let mut open = [(); 2].map(|()| connect(&server, COMPLETE));
    for stream in &mut open {
        assert!(read_response(stream).starts_with("HTTP/1.1 200 "));
    }
    let mut waiting = connect(&server, COMPLETE);
    waiting.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert_eq!(read_response(&mut waiting), "");
    waiting.set_read_timeout(Some(MAX_WAIT)).unwrap();
    drop(open);
    assert!(read_response(&mut waiting).starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn invalid_hosts_and_broken_bodies_are_rejected() {
    let (server, _data_dir) = start_server(&[]).await;
    let get = |version: &str, hosts: &str| {
        format!(
            "GET /v1/format/+13052345678 HTTP/{version}\r\n{hosts}X-API-Key: {KEY}\r\nConnection: close\r\n\r\n"
        )
    };
    let to_format = |header: &str, body: &str| post("/v1/format", KEY, header, body);
    let to_mcp = |header: &str, body: &str| post("/mcp", KEY, header, body);
    let host = "Host must be sent exactly once, as a name or an IP address with an optional port";
    let broken = "The body must be complete, and its chunks must be well-formed";
    for (request, text) in [
        (get("1.1", ""), host),
        (get("1.0", "Host: a\"><script>\r\n"), host),
        (to_format(CHUNKED, "5\r\n[\"305\r\nno size\r\n"), broken),
        (to_mcp(CHUNKED, "5\r\n[\"305\r\nno size\r\n"), broken),
        (to_format(CHUNKED, "5\r\n[\"305\r\n"), broken),
        (to_mcp("Content-Length: 100", "[\"305\"]"), broken),
    ] {
        let mut stream = connect(&server, &request);
        if request.starts_with("POST") {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        let mut response = String::new();
        _ = stream.read_to_string(&mut response);
        let status = response.split(' ').nth(1);
        assert!(status == Some("400") && response.contains(text), "{request}: {response}");
    }
    let without_host = read_response(&mut connect(&server, &get("1.0", "")));
    let (_, body) = without_host.split_once("\r\n\r\n").unwrap();
    assert!(body.contains("\"country\":\"US\"") && !body.contains("\"flags\""), "{body}");

    let body = r#"["+12064155555", "x"]"#;
    let headers = post("/v1/nowhere", KEY, &format!("Content-Length: {}", body.len()), "");
    let mut stream = connect(&server, "");
    for _ in 0..2 {
        stream.write_all(headers.as_bytes()).unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(body.as_bytes()).unwrap();
        let response = read_response(&mut stream);
        assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
        assert!(!response.contains("connection: close"), "{response}");
    }
}
