//! Measures servers' throughput, latency and memory at several concurrencies.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Parser;
use reqwest::{Client, StatusCode};
use tokio::task::JoinSet;

use crate::{
    Error,
    programs::{FOLDER, KEY, Process, ProgramArgs, Programs, output},
    requests::{self, CARRIER, EXCHANGE, EXCHANGES, Request, SEARCH_WORDS},
    table,
};

const LOCAL_SERVER: &str = "local server";
/// Only describes numbers: no key, quota or carrier. Stands for an hour's work.
const EXPRESS: &str = "Express and libphonenumber-js";

/// Measures how many requests servers answer, and how long each takes.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench load --")]
pub struct Options {
    #[command(flatten)]
    programs: ProgramArgs,
    /// Seconds per load
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Concurrent requests
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1, 16, 64])]
    concurrency: Vec<usize>,
    /// Measure only the servers whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// A server that answers at `url`.
struct Server {
    name: &'static str,
    process: Process,
    url: String,
}

/// A row in the table.
type Row = [String; 8];

/// Builds, starts and measures everything, and returns the table.
pub async fn measure(options: &Options) -> Result<String, Error> {
    let programs = Programs::prepare(&options.programs)?;
    let (mut rows, mut left_out) = (Vec::new(), String::new());
    if LOCAL_SERVER.contains(&options.only) {
        let (process, url) = programs.start("serve", "base URL")?;
        let server = Server { name: LOCAL_SERVER, process, url };
        let measured = [EXCHANGE, CARRIER, EXCHANGES, SEARCH_WORDS];
        let others = requests::every_kind(programs.is_full_scale).into_iter();
        let others = others.filter(|request| measured.contains(&request.name));
        server.measure(options, requests::numbers(), &mut rows).await?;
        for request in others {
            server.measure(options, vec![request], &mut rows).await?;
        }
    }
    if EXPRESS.contains(&options.only) {
        match start_express() {
            Ok(server) => server.measure(options, requests::numbers(), &mut rows).await?,
            Err(error) => left_out = format!("\n{EXPRESS} is left out: {error}\n"),
        }
    }
    let headings =
        ["", "at a time", "requests/s", "p50, ms", "p99, ms", "p99.9, ms", "memory, MiB", "errors"];
    let seconds = options.seconds;
    let description = format!("{}\nEach load lasts {seconds} s.", programs.description()?);
    Ok(format!("{description}\n\n{}{left_out}", table(headings, rows)))
}

/// Installs the packages next to the build, leaving the sources unchanged.
fn start_express() -> Result<Server, Error> {
    let folder = Path::new(FOLDER).join("express");
    fs::create_dir_all(&folder)?;
    for file in ["package.json", "package-lock.json", "server.js"] {
        fs::copy(Path::new("infra/bench/express").join(file), folder.join(file))?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    output(npm.current_dir(&folder))?;
    let mut node = Command::new("node");
    node.arg("server.js").current_dir(&folder).env("NODE_ENV", "production");
    let (process, url) = Process::start_server(&mut node, "base URL", "express")?;
    Ok(Server { name: EXPRESS, process, url })
}

impl Server {
    /// Sends requests in turn at each concurrency, first to warm up and then to measure.
    async fn measure(
        &self,
        options: &Options,
        requests: Vec<Request>,
        rows: &mut Vec<Row>,
    ) -> Result<(), Error> {
        let name = requests[0].name;
        let requests = Arc::new(requests);
        let duration = Duration::from_secs(options.seconds);
        for &concurrency in &options.concurrency {
            eprintln!("{}, {name}, {concurrency} at a time", self.name);
            let load = async |duration| self.send(&requests, concurrency, duration).await;
            load((duration / 10).max(Duration::from_secs(1))).await?;
            let before = self.process.memory("VmRSS")?;
            let started = Instant::now();
            let (mut times, failures) = load(duration).await?;
            let seconds = started.elapsed().as_secs_f64();
            let after = self.process.memory("VmRSS")?;
            times.sort_unstable();
            let quantile = |share: f64| {
                let time = times[((times.len() - 1) as f64 * share) as usize];
                format!("{:.2}", time.as_secs_f64() * 1000.0)
            };
            rows.push([
                format!("{}, {name}", self.name),
                concurrency.to_string(),
                format!("{:.0}", times.len() as f64 / seconds),
                quantile(0.5),
                quantile(0.99),
                quantile(0.999),
                format!("{before:.0} → {after:.0}"),
                failures.to_string(),
            ]);
        }
        Ok(())
    }

    /// Sends requests from this many clients; each waits for the whole answer before its next request. Returns how long
    /// each took, and how many failed.
    async fn send(
        &self,
        requests: &Arc<Vec<Request>>,
        clients: usize,
        duration: Duration,
    ) -> Result<(Vec<Duration>, u64), Error> {
        // Only plain HTTP is used, but building a client requires a TLS provider.
        _ = rustls::crypto::ring::default_provider().install_default();
        let end = Instant::now() + duration;
        let mut running = JoinSet::new();
        for first in 0..clients {
            let (client, url) = (Client::builder().no_proxy().build()?, self.url.clone());
            let requests = Arc::clone(requests);
            running.spawn(async move {
                let (mut times, mut failures) = (Vec::new(), 0);
                for request in requests.iter().cycle().skip(first % requests.len()) {
                    let started = Instant::now();
                    if started >= end {
                        break;
                    }
                    let url = format!("{url}{}", request.target);
                    let response = client.get(url).bearer_auth(KEY).send().await?;
                    let status = response.status();
                    let body = response.bytes().await?;
                    times.push(started.elapsed());
                    failures += u64::from(status != StatusCode::OK || body.is_empty());
                }
                Ok::<_, Error>((times, failures))
            });
        }
        let (mut times, mut failures) = (Vec::new(), 0);
        while let Some(of_client) = running.join_next().await {
            let (own_times, own_failures) = of_client??;
            times.extend(own_times);
            failures += own_failures;
        }
        Ok((times, failures))
    }
}
