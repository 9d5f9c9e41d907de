//! Measures cold starts and response times for the functions, alongside one that only responds and one that also reads
//! an item from DynamoDB. docs/BENCHMARKS.md lists the commands. Prints Markdown.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../../local/tests/e2e/support/lambda_runtime.rs"]
mod lambda_runtime;
#[allow(dead_code)]
#[path = "../../../local/tests/e2e/support/processes.rs"]
mod processes;
mod requests;

use std::{
    array, env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use clap::Parser;

use self::{
    lambda_runtime::{LambdaFunction, Registration},
    requests::Request,
};

/// Measures cold starts and response times for the functions.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench cold_start --")]
struct Options {
    /// Folder with the functions' release binaries
    #[arg(long, value_name = "DIR", default_value = "target/release")]
    functions: PathBuf,
    /// Folder with the baselines' release binaries
    #[arg(long, value_name = "DIR", default_value = "target/baselines/release")]
    baselines: PathBuf,
    /// Request carriers from the published reports instead of the sample
    #[arg(long)]
    published: bool,
    /// Starts per function
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// The folder for the functions' logs.
const LOGS: &str = "target/bench/logs";
/// Requests between the first one and the measured warm ones.
const WARM_UP: usize = 20;
/// Warm requests to measure.
const WARM_REQUESTS: usize = 50;

/// Milliseconds until init, the first response and a warm response; peak memory in MiB; binary size in MB.
type Figures = [f64; 5];
const HEADINGS: &str = "| | init, ms | x (b) | first response, ms | warm response, ms | x (a) | memory, MiB | \
                        binary, MB |";

// A single thread leaves the other cores to the functions.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Options { functions, baselines, published, rounds, .. } = Options::parse();
    // Cargo runs a benchmark in its package's folder, but paths are relative to the workspace.
    env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let baselines = requests::baselines().map(|it| (baselines.join(it.program), it, Vec::new()));
    let functions =
        requests::functions(published).map(|it| (functions.join(it.program), it, Vec::new()));
    let mut subjects: Vec<_> = baselines.into_iter().chain(functions).collect();
    // Functions take turns, so that other work on the machine affects all of them.
    for round in 1..=rounds {
        eprint!("\rround {round} of {rounds}");
        for (program, request, starts) in &mut subjects {
            starts.push(measure_start(program, request).await);
        }
    }
    let medians: Vec<Figures> = subjects.iter().map(|(_, _, starts)| medians(starts)).collect();
    let ([_, _, hello_warm, ..], [hello_dynamodb_init, ..]) = (medians[0], medians[1]);
    println!(
        "\nMedians of {rounds} starts, and of {WARM_REQUESTS} warm responses after {WARM_UP} others\n"
    );
    println!("{HEADINGS}\n|---|---:|---:|---:|---:|---:|---:|---:|");
    for ((_, request, _), [init, first, warm, memory, size]) in subjects.iter().zip(medians) {
        let (init_ratio, warm_ratio) = (init / hello_dynamodb_init, warm / hello_warm);
        println!(
            "| {} | {init:.1} | {init_ratio:.1} | {first:.2} | {warm:.2} | {warm_ratio:.1} | {memory:.1} | {size:.1} |",
            request.name
        );
    }
}

async fn measure_start(program: &Path, request: &Request) -> Figures {
    let command = function_command(program, request.program);
    let started = Instant::now();
    let mut function = LambdaFunction::start(command, Registration::Accepted).await;
    let init = milliseconds(started.elapsed());
    let event = request.event();
    let mut times = Vec::new();
    for _ in 0..=WARM_UP + WARM_REQUESTS {
        let id = function.begin(&event);
        let (response, time) = function.timed_response(&id).await;
        function.wait_until_idle().await;
        request.check(&response);
        times.push(milliseconds(time));
    }
    let warm = median(times.split_off(1 + WARM_UP));
    let size = fs::metadata(program).unwrap().len() as f64 / 1e6;
    [init, times[0], warm, peak_memory(&function.process), size]
}

/// The command that starts a function with only the variables for Lambda and the database.
fn function_command(program: &Path, name: &str) -> Command {
    fs::create_dir_all(LOGS).unwrap();
    let log = File::create(Path::new(LOGS).join(name)).unwrap();
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(env::vars().filter(|(name, _)| name.starts_with("AWS_")))
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    command
}

/// A process's peak memory in MiB.
fn peak_memory(process: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn medians(starts: &[Figures]) -> Figures {
    array::from_fn(|figure| median(starts.iter().map(|start| start[figure]).collect()))
}

/// The median, or the upper of the two middle values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
