//! Idle, incomplete and excess connections.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{Server, run, stdout},
    service::KEY,
};

const COMPLETE: &str = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const INCOMPLETE: &str = "GET /health HTTP/1.1\r\nHost: x\r\n";

/// A server with these options, and its temporary folder.
async fn start_server(options: &[&str]) -> (Server, TempDir) {
    let data_dir = sample_folder();
    (Server::on(&data_dir, &[options, &["--key", KEY]].concat()).await, data_dir)
}

/// Connects, and sends `text`.
fn connect(server: &Server, text: &str) -> TcpStream {
    let address = server.base_url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// The first bytes of a response; empty if the connection is closed.
fn read_response(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let length = stream.read(&mut buffer).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

/// The headers for a request whose body of `length` bytes is not sent yet.
fn post_headers(key: &str, length: usize, more: &str) -> String {
    format!(
        "POST /v1/format HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n"
    )
}

fn assert_closed_after_a_second(started: Instant) {
    let elapsed = started.elapsed();
    assert!((Duration::from_secs(1)..Duration::from_secs(10)).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test]
async fn incomplete_requests_time_out_even_if_bytes_trickle_in() {
    let (server, _data_dir) = start_server(&["--request-timeout", "1"]).await;
    let started = Instant::now();
    let mut incomplete: Vec<TcpStream> = (0..300).map(|_| connect(&server, INCOMPLETE)).collect();
    incomplete.push(connect(&server, ""));
    let half_a_body = format!(
        "POST /v1/format HTTP/1.1\r\nHost: x\r\nX-API-Key: {KEY}\r\n\
         Content-Type: text/plain\r\nContent-Length: 100\r\n\r\n305"
    );
    incomplete.push(connect(&server, &half_a_body));
    assert_eq!(server.get("/v1/npa/415?limit=1").await["npa"], "415");
    for stream in &mut incomplete {
        let response = read_response(stream);
        assert!(response.is_empty() || response.starts_with("HTTP/1.1 400 "), "{response}");
    }
    assert_closed_after_a_second(started);

    let started = Instant::now();
    let mut stream = connect(&server, INCOMPLETE);
    // The system reports a closed connection only after some writes.
    while stream.write_all(b"a").is_ok() {
        assert!(started.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_closed_after_a_second(started);
}

#[tokio::test]
async fn idle_connections_outlast_the_request_timeout() {
    let (server, _data_dir) =
        start_server(&["--request-timeout", "1", "--idle-timeout", "4"]).await;
    let mut stream = connect(&server, COMPLETE);
    assert!(read_response(&mut stream).starts_with("HTTP/1.1 200 "));
    tokio::time::sleep(Duration::from_secs(2)).await;
    stream.write_all(COMPLETE.as_bytes()).unwrap();
    assert!(read_response(&mut stream).starts_with("HTTP/1.1 200 "));
    let answered = Instant::now();
    assert_eq!(read_response(&mut stream), "");
    let idle = answered.elapsed();
    assert!((Duration::from_millis(3500)..Duration::from_secs(10)).contains(&idle), "{idle:?}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_another_to_close() {
    let (server, _data_dir) = start_server(&["--max-connections", "2"]).await;
    let mut open = [(); 2].map(|()| connect(&server, COMPLETE));
    for stream in &mut open {
        assert!(read_response(stream).starts_with("HTTP/1.1 200 "));
    }
    let mut waiting = connect(&server, COMPLETE);
    waiting.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert_eq!(read_response(&mut waiting), "");
    waiting.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    drop(open);
    assert!(read_response(&mut waiting).starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn rejected_posts_with_a_late_body_keep_their_connection() {
    let (server, data_dir) = start_server(&[]).await;
    let create = ["keys", "create", "--name", "one number a minute", "--per-minute", "1"];
    let key = stdout(&run(&data_dir, &create));
    let body = r#"["+12064155555", "+12064155556"]"#;
    let mut stream = connect(&server, "");
    for _ in 0..2 {
        stream.write_all(post_headers(key.trim(), body.len(), "").as_bytes()).unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(body.as_bytes()).unwrap();
        let response = read_response(&mut stream);
        assert!(response.starts_with("HTTP/1.1 429 "), "{response}");
        assert!(!response.contains("connection: close"), "{response}");
    }
    let unknown = KEY.replace("Sample", "Unknow");
    let mut unsent = connect(&server, &post_headers(&unknown, 100, "Expect: 100-continue\r\n"));
    let response = read_response(&mut unsent);
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    assert!(response.contains("connection: close"), "{response}");
}
