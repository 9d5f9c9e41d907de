//! Measures the CPU time that the worst requests take from a server, per request and per request charged.
//! docs/BENCHMARKS.md lists the commands. Prints Markdown.

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

use self::{
    requests::worst_requests,
    server::{Server, send},
};
use clap::Parser;
use reqwest::RequestBuilder;

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

const WARM_UP: usize = 3;
/// A measurement ends after this much CPU time or time.
const MAX_CPU_TIME: Duration = Duration::from_millis(500);
const MAX_TIME: Duration = Duration::from_secs(4);

#[derive(Debug, Clone, Copy)]
struct Cost {
    status: u16,
    /// In microseconds.
    request: f64,
    /// The requests charged for it; `None` for a public endpoint.
    charged: Option<f64>,
}

impl Cost {
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
    let single = measure(&server, &client.get(server.url("/v1/format/+12122345678"))).await;
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
