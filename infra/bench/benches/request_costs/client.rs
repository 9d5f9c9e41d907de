//! A minimal HTTP/1.1 client, which takes little CPU time itself.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

/// A request without its key.
#[derive(Debug, Clone)]
pub struct Request {
    method: &'static str,
    target: String,
    headers: String,
    body: String,
}

impl Request {
    pub fn get(target: impl Into<String>) -> Self {
        let (headers, body) = (String::new(), String::new());
        Self { method: "GET", target: target.into(), headers, body }
    }

    pub fn post(target: &str, content_type: &str, body: String) -> Self {
        let request = Self { method: "POST", body, ..Self::get(target) };
        request.with("content-type", content_type)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    pub fn line(&self) -> String {
        format!("{} {:.80}", self.method, self.target)
    }

    /// The request with a key, up to its body.
    pub fn head(&self, key: &str, length: usize) -> String {
        let Self { method, target, headers, body: _ } = self;
        format!(
            "{method} {target} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n{headers}\
             content-length: {length}\r\n\r\n"
        )
    }
}

/// A response without its body.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    /// The requests left in the daily quota.
    pub remaining: Option<i64>,
}

/// Sends requests with a key on one connection.
pub struct Client {
    address: String,
    key: String,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    pub fn new(address: &str, key: &str) -> Self {
        Self { address: address.to_owned(), key: key.to_owned(), connection: None }
    }

    /// Sends a request, on a new connection if the server closed the last one.
    pub fn send(&mut self, request: &Request) -> Response {
        let head = request.head(&self.key, request.body.len());
        let bytes = [head.as_bytes(), request.body.as_bytes()].concat();
        for _ in 0..3 {
            if let Some(response) = self.try_send(&bytes) {
                return response;
            }
            self.connection = None;
        }
        panic!("no response to {}", request.line())
    }

    fn try_send(&mut self, bytes: &[u8]) -> Option<Response> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let stream = TcpStream::connect(&self.address).ok()?;
                stream.set_nodelay(true).ok()?;
                self.connection.insert(BufReader::with_capacity(256 * 1024, stream))
            }
        };
        connection.get_mut().write_all(bytes).ok()?;
        let head = read_head(connection)?;
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        let read = std::io::copy(&mut connection.take(length), &mut std::io::sink()).ok()?;
        let closes = header("connection").is_some_and(|value| value == "close");
        let remaining = header("x-ratelimit-remaining").and_then(|value| value.parse().ok());
        let status = head.split(' ').nth(1)?.parse().ok()?;
        if closes {
            self.connection = None;
        }
        (read == length).then_some(Response { status, head, remaining })
    }
}

fn read_head(connection: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if connection.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    Some(head)
}
