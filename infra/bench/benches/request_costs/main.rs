//! Measures the CPU time that the worst requests take from a server, per request and per request charged, and how long a
//! client waits beside floods of requests that are rejected. docs/BENCHMARKS.md lists the commands. Prints Markdown.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

mod client;
mod floods;
mod requests;
mod server;

use std::{
    collections::BTreeMap,
    env,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Parser;

use self::{
    client::{Client, Request},
    requests::{Worst, worst_requests},
    server::Server,
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
    /// Skip the floods
    #[arg(long)]
    no_floods: bool,
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

fn main() {
    let options = Options::parse();
    // Cargo runs benchmarks in the folder of their package.
    env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let server = Server::start(&options.program);
    let key = server.create_key(&["--per-day", "4000000000"]);
    let mut client = Client::new(server.address(), &key);
    let single = measure(&server, &mut client, &Request::get("/v1/format/+12122345678"));
    println!(
        "| Endpoint | Worst request | CPU, ms | Charged | CPU per charged request, µs | x a single number |\n\
         |---|---|---:|---:|---:|---:|"
    );
    print_row("`GET /v1/format/{tn}`", "a single number", single, single);
    let mut endpoints: BTreeMap<usize, Vec<(Worst, Cost)>> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for worst in worst_requests(&server) {
        if !worst.endpoint.contains(&options.only) {
            continue;
        }
        let cost = measure(&server, &mut client, &worst.request);
        let index = names.iter().position(|name| *name == worst.endpoint).unwrap_or(names.len());
        if index == names.len() {
            names.push(worst.endpoint);
        }
        endpoints.entry(index).or_default().push((worst, cost));
    }
    for requests in endpoints.values_mut() {
        requests.sort_by(|a, b| b.1.unit().total_cmp(&a.1.unit()));
        let shown = if options.all { requests.len() } else { 1 };
        for (worst, cost) in &requests[..shown] {
            print_row(&format!("`{}`", worst.endpoint), worst.name, *cost, single);
        }
    }
    if !options.no_floods {
        floods::run(&server);
    }
}

fn print_row(endpoint: &str, name: &str, cost: Cost, single: Cost) {
    let status = if cost.status == 200 { String::new() } else { format!(" ({})", cost.status) };
    let charged = cost.charged.map_or("public".to_owned(), |charged| format!("{charged:.0}"));
    println!(
        "| {endpoint} | {name}{status} | {:.2} | {charged} | {:.0} | {:.1} |",
        cost.request / 1000.0,
        cost.unit(),
        cost.unit() / single.unit()
    );
}

fn measure(server: &Server, client: &mut Client, request: &Request) -> Cost {
    let mut before = None;
    for _ in 0..WARM_UP {
        before = client.send(request).remaining;
    }
    let (started, cpu_before, mut requests) = (Instant::now(), server.cpu_time(), 0);
    let last = loop {
        let response = client.send(request);
        assert!(response.status < 500, "{}: {}", request.line(), response.head);
        requests += 1;
        let is_done = requests % 8 == 0 && server.cpu_time() - cpu_before >= MAX_CPU_TIME;
        if is_done || started.elapsed() >= MAX_TIME {
            break response;
        }
    };
    let cpu_time = server.cpu_time() - cpu_before;
    let per_request = |total: f64| total / f64::from(requests);
    Cost {
        status: last.status,
        request: per_request(cpu_time.as_secs_f64() * 1e6),
        charged: before
            .zip(last.remaining)
            .map(|(before, after)| per_request((before - after) as f64)),
    }
}
