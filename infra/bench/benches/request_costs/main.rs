//! Measures the CPU time that the worst requests take from a server, per request and per request charged, and how long a
//! client waits beside floods of requests that are rejected. docs/BENCHMARKS.md lists the commands. Prints Markdown.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

mod requests;
mod server;

use std::{
    collections::BTreeMap,
    env,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Parser;
use reqwest::RequestBuilder;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

use self::{
    requests::{JSON, TEXT, numbers_as_json, worst_requests},
    server::{Client, Server, send},
};

/// Measures the cost of the worst requests.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench request_costs --")]
struct Options {
    /// The program to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/tnr")]
    program: PathBuf,
    /// Only endpoints that contain this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Show every request, not only each endpoint's worst
    #[arg(long)]
    all: bool,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Requests before the measured ones.
const WARM_UP: usize = 3;
/// A measurement ends after this much CPU time or time.
const MAX_CPU_TIME: Duration = Duration::from_millis(500);
const MAX_TIME: Duration = Duration::from_secs(4);

/// The cost of a request.
#[derive(Debug, Clone, Copy)]
struct Cost {
    status: u16,
    /// In microseconds.
    request: f64,
    /// The requests charged for it; `None` for a public endpoint.
    charged: Option<f64>,
}

impl Cost {
    /// The microseconds per request charged.
    fn unit(self) -> f64 {
        self.request / self.charged.unwrap_or(1.0)
    }
}

#[tokio::main]
async fn main() {
    let options = Options::parse();
    // Cargo runs benchmarks in the folder of their package.
    env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let server = Server::start(&options.program);
    let client = server.client(&["--per-day", "4000000000"]);
    let single = measure(&server, &client.get("/v1/format/+12122345678")).await;
    println!(
        "| Endpoint | Worst request | CPU, ms | Charged | CPU per charged request, µs | x a single number |\n\
         |---|---|---:|---:|---:|---:|"
    );
    print_row("/v1/format/{tn}", "a single number", single, single);
    let mut endpoints: BTreeMap<String, Vec<(String, Cost)>> = BTreeMap::new();
    for worst in worst_requests(&server, &client) {
        if worst.endpoint.contains(&options.only) {
            let cost = measure(&server, &worst.request).await;
            endpoints.entry(worst.endpoint).or_default().push((worst.name, cost));
        }
    }
    for (endpoint, mut requests) in endpoints {
        requests.sort_by(|a, b| b.1.unit().total_cmp(&a.1.unit()));
        let shown = if options.all { requests.len() } else { 1 };
        for (name, cost) in &requests[..shown] {
            print_row(&endpoint, name, *cost, single);
        }
    }
    print_floods(&server).await;
}

fn print_row(endpoint: &str, name: &str, cost: Cost, single: Cost) {
    let status = if cost.status == 200 { String::new() } else { format!(" ({})", cost.status) };
    let charged = cost.charged.map_or("public".to_owned(), |charged| format!("{charged:.0}"));
    println!(
        "| `{endpoint}` | {name}{status} | {:.2} | {charged} | {:.0} | {:.1} |",
        cost.request / 1000.0,
        cost.unit(),
        cost.unit() / single.unit()
    );
}

async fn measure(server: &Server, request: &RequestBuilder) -> Cost {
    let mut before = None;
    for _ in 0..WARM_UP {
        before = send(request).await.1;
    }
    let (started, cpu_before, mut requests) = (Instant::now(), server.cpu_time(), 0);
    let (status, after) = loop {
        let (status, remaining) = send(request).await;
        assert!(status < 500, "{status}: {request:.80?}");
        requests += 1;
        let is_done = requests % 8 == 0 && server.cpu_time() - cpu_before >= MAX_CPU_TIME;
        if is_done || started.elapsed() >= MAX_TIME {
            break (status, remaining);
        }
    };
    let cpu_time = server.cpu_time() - cpu_before;
    let per_request = |total: f64| total / f64::from(requests);
    let charged = before.zip(after).map(|(before, after)| per_request((before - after) as f64));
    Cost { status, request: per_request(cpu_time.as_secs_f64() * 1e6), charged }
}

/// A body that takes minutes to send.
const SLOW_BODY: usize = 500_000;
const PAUSE: Duration = Duration::from_millis(100);
const QUIET_DURATION: Duration = Duration::from_secs(5);
const FLOOD_DURATION: Duration = Duration::from_secs(20);

/// Prints a key's response times alone, and beside floods of expensive requests with ten other keys.
async fn print_floods(server: &Server) {
    println!(
        "\n| `GET /v1/format` with another key | p50, ms | p95, ms | x quiet |\n|---|---:|---:|---:|"
    );
    let mut quiet = None;
    for (name, quotas) in [
        ("quiet", None),
        ("beside ten floods of spent keys", Some(&["--per-minute", "1"][..])),
        ("beside ten floods of keys without a quota", Some(&[])),
    ] {
        let mut floods = JoinSet::new();
        for index in 0..quotas.map_or(0, |_| 10) {
            floods.spawn(flood(index, server.client(quotas.unwrap_or_default())));
        }
        let duration = if floods.is_empty() { QUIET_DURATION } else { FLOOD_DURATION };
        let times = response_times(&server.client(&[]), duration).await;
        floods.shutdown().await;
        let [p50, p95] = [50, 95].map(|percent| times[times.len() * percent / 100]);
        let ratio = p95 / *quiet.get_or_insert(p95);
        println!("| {name} | {p50:.2} | {p95:.2} | {ratio:.1} |");
    }
}

/// Response times in milliseconds, sorted.
async fn response_times(client: &Client, duration: Duration) -> Vec<f64> {
    let (mut times, started) = (Vec::new(), Instant::now());
    while started.elapsed() < duration {
        let number = 2_000_000 + times.len() % 7_000_000;
        let sent = Instant::now();
        let (status, _) = send(&client.get(&format!("/v1/format/+1212{number}"))).await;
        assert_eq!(status, 200);
        times.push(sent.elapsed().as_secs_f64() * 1000.0);
        // As from a client that does something with the response.
        sleep(Duration::from_millis(1)).await;
    }
    times.sort_by(f64::total_cmp);
    times
}

/// Sends requests until it is dropped.
async fn flood(index: usize, client: Client) {
    let request = match index {
        0..4 => client.post("/v1/find", TEXT, "305-234-5678\n".repeat(999)),
        4..7 => client.post("/v1/format?include=all", JSON, numbers_as_json(1000)),
        _ => return slow_flood(&client).await,
    };
    loop {
        send(&request).await;
    }
}

/// Sends a little of a body at a time, on a new connection whenever the server closes one.
async fn slow_flood(client: &Client) {
    let Client { address, key, .. } = client;
    let head = format!(
        "POST /v1/format HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\ncontent-type: {TEXT}\r\n\
         content-length: {SLOW_BODY}\r\n\r\n"
    );
    loop {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut response = [0; 1024];
        let mut sent = stream.write_all(head.as_bytes()).await;
        while sent.is_ok() {
            match timeout(PAUSE, stream.read(&mut response)).await {
                Ok(Ok(1..)) => (),
                Ok(_) => break,
                Err(_) => sent = stream.write_all(&[b'1'; 100]).await,
            }
        }
    }
}
