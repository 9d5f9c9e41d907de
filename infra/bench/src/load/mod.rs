//! How many requests services answer at several concurrencies, how long each takes, and whether
//! memory stays flat.

mod clients;
mod express;
mod lambda;
mod local_server;
mod report;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Parser;
use hdrhistogram::Histogram;

use crate::{
    Error,
    database::DataFolder,
    options::ProgramArgs,
    process::Process,
    programs::Programs,
    requests::{self, Request},
};

pub use report::report;

/// Measures how many requests services answer, and how long each takes.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench load --")]
pub struct Options {
    #[command(flatten)]
    pub programs: ProgramArgs,
    /// How long each load lasts
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// How many requests are under way at a time
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1, 16, 64])]
    concurrency: Vec<usize>,
    /// Measure only the services whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// Requests of one kind, which clients send in turn.
#[derive(Debug, Clone)]
struct Requests {
    name: &'static str,
    requests: Vec<Request>,
}

/// What was measured of one service under one load.
#[derive(Debug)]
pub struct Load {
    service: String,
    request: &'static str,
    concurrency: usize,
    answers: Answers,
    seconds: f64,
    /// The memory of the process after the warm-up and at the end, in bytes.
    memory: [u64; 2],
}

/// How long answers took, in microseconds, and how many were no 200.
#[derive(Debug, Clone)]
struct Answers {
    latencies: Histogram<u64>,
    failures: u64,
}

/// Everything that was measured, and what could not be.
#[derive(Debug)]
pub struct Measured {
    description: String,
    loads: Vec<Load>,
    left_out: Vec<String>,
}

/// Builds, starts and measures everything.
pub async fn measure(options: &Options) -> Result<Measured, Error> {
    let programs = Programs::build(&options.programs)?;
    let folder = DataFolder::prepare(&options.programs, &programs)?;
    let mut measured =
        Measured { description: String::new(), loads: Vec::new(), left_out: Vec::new() };
    if options.includes(local_server::NAME) {
        local_server::measure(options, &folder, &mut measured.loads).await?;
    }
    if options.includes(lambda::NAME) {
        lambda::measure(options, &programs, &folder, &mut measured).await?;
    }
    if options.includes(express::NAME)
        && let Err(error) = express::measure(options, &mut measured.loads).await
    {
        measured.left_out.push(format!("{} is left out: {error}", express::NAME));
    }
    let seconds = options.seconds;
    measured.description = format!("{}\nEach load lasts {seconds} s.", folder.description()?);
    Ok(measured)
}

impl Options {
    fn includes(&self, service: &str) -> bool {
        service.contains(&self.only)
    }

    fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// How long a load runs before it is measured.
    fn warm_up(&self) -> Duration {
        (self.duration() / 10).max(Duration::from_secs(1))
    }
}

/// Sends the requests to the server at `authority`, as many at a time as each concurrency says.
async fn measure_server(
    options: &Options,
    (service, process, authority): (&str, &Process, &str),
    requests: &Requests,
    loads: &mut Vec<Load>,
) -> Result<(), Error> {
    clients::check(authority, requests).await?;
    for &concurrency in &options.concurrency {
        let load = async |duration| clients::send(authority, requests, concurrency, duration).await;
        let what = (service, requests.name, concurrency);
        loads.push(measure_load(options, what, process, load).await?);
    }
    Ok(())
}

/// Runs a load twice, first to warm up, and measures the second time.
async fn measure_load(
    options: &Options,
    (service, request, concurrency): (&str, &'static str, usize),
    process: &Process,
    load: impl AsyncFn(Duration) -> Result<Answers, Error>,
) -> Result<Load, Error> {
    eprintln!("{service}, {request}, {concurrency} at a time");
    load(options.warm_up()).await?;
    let before = process.memory()?;
    let started = Instant::now();
    let answers = load(options.duration()).await?;
    let seconds = started.elapsed().as_secs_f64();
    let memory = [before, process.memory()?];
    Ok(Load { service: service.to_owned(), request, concurrency, answers, seconds, memory })
}

impl Answers {
    fn none() -> Self {
        // From a microsecond to a minute, to a thousandth of the value.
        let latencies = Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are valid");
        Self { latencies, failures: 0 }
    }

    fn record(&mut self, time: Duration, is_ok: bool) {
        self.latencies.saturating_record(time.as_micros().try_into().unwrap_or(u64::MAX));
        self.failures += u64::from(!is_ok);
    }

    fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies).expect("both have the same bounds");
        self.failures += other.failures;
    }

    /// The latency in milliseconds within which a share of the answers came.
    fn quantile(&self, share: f64) -> f64 {
        self.latencies.value_at_quantile(share) as f64 / 1000.0
    }
}

/// The numbers for which `format` is asked in turn.
fn numbers() -> Requests {
    let requests = requests::NUMBERS.map(requests::format).to_vec();
    Requests { name: requests[0].name, requests }
}

/// Where the local program, or another server, says that it listens.
fn authority(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}

/// Where the log of a server is.
fn log(name: &str) -> PathBuf {
    crate::programs::log(&format!("load-{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_several_clients_are_those_of_all_answers() {
        let (mut fast, mut slow) = (Answers::none(), Answers::none());
        (0..99).for_each(|_| fast.record(Duration::from_millis(1), true));
        slow.record(Duration::from_millis(500), false);
        fast.add(&slow);
        assert!((fast.quantile(0.5) - 1.0).abs() < 0.01);
        assert!((fast.quantile(0.999) - 500.0).abs() < 1.0);
        assert_eq!((fast.latencies.len(), fast.failures), (100, 1));
    }
}
