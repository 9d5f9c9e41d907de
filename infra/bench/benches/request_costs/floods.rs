//! A key's response times beside floods of expensive requests with other keys.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    client::{Client, Request},
    requests::{JSON, TEXT, numbers_as_json},
    server::Server,
};

/// A body that takes minutes to send.
const SLOW_BODY: usize = 500_000;
const PAUSE: Duration = Duration::from_millis(100);
const QUIET: Duration = Duration::from_secs(5);
const FLOODED: Duration = Duration::from_secs(20);

pub fn run(server: &Server) {
    let key = server.create_key(&[]);
    println!(
        "\n| `GET /v1/format` with another key | p50, ms | p95, ms | x quiet | Responses to the floods |\n\
         |---|---:|---:|---:|---:|"
    );
    let quiet = response_times(server, &key, QUIET);
    print_row("quiet", &quiet, &quiet, 0);
    for (name, quotas) in [
        ("beside ten floods of spent keys", &["--per-minute", "1"][..]),
        ("beside ten floods of keys without a quota", &[]),
    ] {
        let keys: Vec<String> = (0..10).map(|_| server.create_key(quotas)).collect();
        let (times, responses) = beside_floods(server, &key, &keys);
        print_row(name, &times, &quiet, responses);
    }
}

fn print_row(name: &str, times: &[f64], quiet: &[f64], responses: u32) {
    let (p50, p95) = (percentile(times, 50), percentile(times, 95));
    let ratio = p95 / percentile(quiet, 95);
    println!("| {name} | {p50:.2} | {p95:.2} | {ratio:.1} | {responses} |");
}

/// The response times with `key` beside one flood for each of `keys`, and the number of responses to those.
fn beside_floods(server: &Server, key: &str, keys: &[String]) -> (Vec<f64>, u32) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let floods = keys.iter().enumerate().map(|(index, key)| {
            let is_over = &is_over;
            scope.spawn(move || flood(index, server.address(), key, is_over))
        });
        let floods: Vec<_> = floods.collect();
        let times = response_times(server, key, FLOODED);
        is_over.store(true, Ordering::Relaxed);
        (times, floods.into_iter().map(|flood| flood.join().unwrap()).sum())
    })
}

/// Response times in milliseconds, sorted.
fn response_times(server: &Server, key: &str, duration: Duration) -> Vec<f64> {
    let (mut client, started) = (Client::new(server.address(), key), Instant::now());
    let mut times = Vec::new();
    while started.elapsed() < duration {
        let number = 2_000_000 + times.len() % 7_000_000;
        let request = Request::get(format!("/v1/format/+1212{number}"));
        let sent = Instant::now();
        assert_eq!(client.send(&request).status, 200);
        times.push(sent.elapsed().as_secs_f64() * 1000.0);
        // As from a client that does something with the response.
        thread::sleep(Duration::from_millis(1));
    }
    times.sort_by(f64::total_cmp);
    times
}

fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[sorted.len() * percent / 100]
}

/// Sends requests until the floods are over, and returns the number of responses.
fn flood(index: usize, address: &str, key: &str, is_over: &AtomicBool) -> u32 {
    let request = match index {
        0..4 => Request::post("/v1/find", TEXT, "305-234-5678\n".repeat(999)),
        4..7 => Request::post("/v1/format?include=all", JSON, numbers_as_json(1000)),
        _ => return slow_flood(address, key, is_over),
    };
    let (mut client, mut responses) = (Client::new(address, key), 0);
    while !is_over.load(Ordering::Relaxed) {
        client.send(&request);
        responses += 1;
    }
    responses
}

/// Sends a little of a body at a time, until the server closes the connection.
fn slow_flood(address: &str, key: &str, is_over: &AtomicBool) -> u32 {
    let head = Request::post("/v1/format", TEXT, String::new()).head(key, SLOW_BODY);
    let mut responses = 0;
    while !is_over.load(Ordering::Relaxed) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PAUSE)).unwrap();
        let mut response = [0; 1024];
        let mut sent = stream.write_all(head.as_bytes());
        while sent.is_ok() && !is_over.load(Ordering::Relaxed) {
            match stream.read(&mut response) {
                Ok(0) => break,
                Ok(_) => responses += 1,
                Err(_) => sent = stream.write_all(&[b'1'; 100]),
            }
        }
    }
    responses
}
