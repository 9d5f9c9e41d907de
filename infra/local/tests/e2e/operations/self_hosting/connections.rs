//! Idle, incomplete and excess connections.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{Serving, run, stdout},
    service::KEY,
};

const WHOLE: &str = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const HALF: &str = "GET /health HTTP/1.1\r\nHost: x\r\n";

/// A server with these options, and its temporary folder.
async fn serving(options: &[&str]) -> (Serving, TempDir) {
    let data_dir = sample_folder();
    (Serving::on(&data_dir, &[options, &["--key", KEY]].concat()).await, data_dir)
}

/// A connection with `text` sent.
fn connection(serving: &Serving, text: &str) -> TcpStream {
    let address = serving.base_url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// The first bytes of a response; empty if the connection is closed.
fn received(stream: &mut TcpStream) -> String {
    let mut buffer = [0; 4096];
    let length = stream.read(&mut buffer).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[tokio::test]
async fn incomplete_requests_time_out_even_if_bytes_trickle_in() {
    let (serving, _data_dir) = serving(&["--header-timeout", "1"]).await;
    let begun = Instant::now();
    let mut halves: Vec<TcpStream> = (0..300).map(|_| connection(&serving, HALF)).collect();
    halves.push(connection(&serving, ""));
    assert_eq!(serving.get("/v1/npa/415?limit=1").await["npa"], "415");
    for half in &mut halves {
        assert_eq!(received(half), "");
    }
    let took = begun.elapsed();
    assert!((Duration::from_secs(1)..Duration::from_secs(10)).contains(&took), "{took:?}");

    let begun = Instant::now();
    let mut stream = connection(&serving, HALF);
    // The system reports a closed connection only after some writes.
    while stream.write_all(b"a").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_missing_body_closes_the_connection() {
    let (serving, _data_dir) = serving(&["--body-timeout", "1"]).await;
    let begun = Instant::now();
    let mut stream = connection(&serving, &(headers_of_post(KEY, 100, "") + "{"));
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let took = begun.elapsed();
    assert!((Duration::from_secs(1)..Duration::from_secs(10)).contains(&took), "{took:?}");
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn idle_connections_outlast_the_header_timeout() {
    let (serving, _data_dir) = serving(&["--header-timeout", "1", "--idle-timeout", "4"]).await;
    let mut stream = connection(&serving, WHOLE);
    assert!(received(&mut stream).starts_with("HTTP/1.1 200 "));
    tokio::time::sleep(Duration::from_secs(2)).await;
    stream.write_all(WHOLE.as_bytes()).unwrap();
    assert!(received(&mut stream).starts_with("HTTP/1.1 200 "));
    let answered = Instant::now();
    assert_eq!(received(&mut stream), "");
    let idle = answered.elapsed();
    assert!((Duration::from_millis(3500)..Duration::from_secs(10)).contains(&idle), "{idle:?}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_another_to_close() {
    let (serving, _data_dir) = serving(&["--max-connections", "2"]).await;
    let mut open = [(); 2].map(|()| connection(&serving, WHOLE));
    for stream in &mut open {
        assert!(received(stream).starts_with("HTTP/1.1 200 "));
    }
    let mut waiting = connection(&serving, WHOLE);
    waiting.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert_eq!(received(&mut waiting), "");
    waiting.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    drop(open);
    assert!(received(&mut waiting).starts_with("HTTP/1.1 200 "));
}

/// The headers of a request with a body of `length` bytes still to be sent.
fn headers_of_post(key: &str, length: usize, more: &str) -> String {
    format!(
        "POST /v1/format HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n"
    )
}

#[tokio::test]
async fn refused_posts_with_a_late_body_keep_their_connection() {
    let (serving, data_dir) = serving(&[]).await;
    let create = ["keys", "create", "--name", "one number a minute", "--per-minute", "1"];
    let key = stdout(&run(&data_dir, &create));
    let body = r#"["+12064155555", "+12064155556"]"#;
    let mut stream = connection(&serving, "");
    for _ in 0..3 {
        stream.write_all(headers_of_post(key.trim(), body.len(), "").as_bytes()).unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(body.as_bytes()).unwrap();
        let answer = received(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
        stream.write_all(WHOLE.as_bytes()).unwrap();
        assert!(received(&mut stream).starts_with("HTTP/1.1 200 "));
    }
}

#[tokio::test]
async fn unread_bodies_close_the_connection_with_a_close_header() {
    let (serving, _data_dir) = serving(&[]).await;
    let unknown = KEY.replace("Sample", "Unknow");
    let never_sent = [
        headers_of_post(&unknown, 100, ""),
        headers_of_post(&unknown, 100, "Expect: 100-continue\r\n"),
    ];
    for headers in never_sent {
        let answer = received(&mut connection(&serving, &headers));
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    let mut stream = connection(&serving, &headers_of_post(&unknown, 4_000_000, ""));
    // The server may close the connection early.
    _ = stream.write_all(&vec![b' '; 2_000_000]);
    let answer = received(&mut stream);
    assert!(answer.is_empty() || answer.contains("connection: close"), "{answer}");
}
