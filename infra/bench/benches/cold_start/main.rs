//! Measures cold starts and response times for the functions, alongside one that only responds and one that also reads
//! an item from DynamoDB. docs/BENCHMARKS.md lists the commands. Prints Markdown.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../../tnr/tests/e2e/support/lambda_runtime.rs"]
mod lambda_runtime;
#[allow(dead_code)]
#[path = "../../../tnr/tests/e2e/support/listening.rs"]
mod listening;
#[allow(dead_code)]
#[path = "../../../tnr/tests/e2e/support/processes.rs"]
mod processes;

use std::{
    array, env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

use clap::Parser;
use probe::{Function, Request};
use serde_json::{Value, json};

use self::lambda_runtime::LambdaFunction;

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

/// The database must contain this key.
const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";
const LOGS_FOLDER: &str = "target/bench/logs";
/// Requests between the first one and the measured warm ones.
const WARM_UP: usize = 20;
const WARM_REQUESTS: usize = 50;

/// Milliseconds until init, the first response and a warm response; peak memory in MiB; binary size in MB.
type Measurements = [f64; 5];
const HEADINGS: &str = "| | init, ms | x (b) | first response, ms | warm response, ms | x (a) | memory, MiB | \
                        binary, MB |";

/// A request to measure, the binary that it starts, and a JSON pointer to a field that the response must contain.
struct StartCase {
    name: &'static str,
    program: PathBuf,
    event: Value,
    required: &'static str,
}

/// The two baselines, then a request of each kind.
fn cases(options: &Options) -> Vec<StartCase> {
    let case = |name, request: &Request, required, program: &Path| {
        let mut event = request.event("bench");
        event["headers"]["authorization"] = json!(format!("Bearer {KEY}"));
        event["requestContext"]["authorizer"].take();
        StartCase { name, program: program.to_owned(), event, required }
    };
    let words = if options.published { "cingular wireless" } else { "sample wireless" };
    let to = Request::new;
    let exchanges = to(Function::Npa, "/v1/npa/{npa}").with_path_parameter("npa", "415");
    let exchange = to(Function::Npa, "/v1/npa/{npa}/nxx/{nxx}")
        .with_path_parameter("npa", "212")
        .with_path_parameter("nxx", "234");
    let number =
        |number| to(Function::Format, "/v1/format/{tn+}").with_path_parameter("tn", number);
    let search = to(Function::Search, "/v1/search").with_query("q", words);
    let baselines = [
        ("(a) hello", "hello", "/message"),
        ("(b) hello and one GetItem", "hello_dynamodb", "/attributes"),
    ]
    .map(|(name, program, field)| case(name, &exchanges, field, &options.baselines.join(program)));
    let functions = [
        ("npa: an area code", exchanges.clone(), "/exchanges/0/nxx"),
        ("npa: an exchange", exchange, "/exchanges/0/nxx"),
        ("format: a US number", number("+13052345678"), "/location/rateCenter"),
        ("format: a British number", number("+442079460958"), "/location/country"),
        ("carriers: a list", to(Function::Carriers, "/v1/carriers"), "/carriers/0/ocn"),
        ("search: two words", search, "/results/0/npa"),
        ("status: health", to(Function::Status, "/v1/health"), "/status"),
    ]
    .map(|(name, request, field)| {
        case(name, &request, field, &options.functions.join(request.function.name()))
    });
    baselines.into_iter().chain(functions).collect()
}

// A single thread leaves the other cores to the functions.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let options = Options::parse();
    // Cargo runs a benchmark in its package's folder, but paths are relative to the workspace.
    env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    fs::create_dir_all(LOGS_FOLDER).unwrap();
    let cases = cases(&options);
    let mut starts = vec![Vec::new(); cases.len()];
    // Functions take turns, so that other work on the machine affects all of them.
    for round in 1..=options.rounds {
        eprint!("\rround {round} of {}", options.rounds);
        for (case, starts) in cases.iter().zip(&mut starts) {
            starts.push(measure_start(case).await);
        }
    }
    let medians: Vec<Measurements> = starts.iter().map(|starts| medians(starts)).collect();
    let ([_, _, hello_warm, ..], [hello_dynamodb_init, ..]) = (medians[0], medians[1]);
    println!(
        "\nMedians of {} starts, and of {WARM_REQUESTS} warm responses after {WARM_UP} others\n",
        options.rounds
    );
    println!("{HEADINGS}\n|---|---:|---:|---:|---:|---:|---:|---:|");
    for (case, [init, first, warm, memory, size]) in cases.iter().zip(medians) {
        let (init_ratio, warm_ratio) = (init / hello_dynamodb_init, warm / hello_warm);
        println!(
            "| {} | {init:.1} | {init_ratio:.1} | {first:.2} | {warm:.2} | {warm_ratio:.1} | {memory:.1} | {size:.1} |",
            case.name
        );
    }
}

async fn measure_start(case: &StartCase) -> Measurements {
    let command = function_command(&case.program);
    let started = Instant::now();
    let function = LambdaFunction::start(command).await;
    let init = milliseconds(started.elapsed());
    let mut times = Vec::new();
    for _ in 0..=WARM_UP + WARM_REQUESTS {
        let sent = Instant::now();
        let response = function.invoke(&case.event).await;
        let time = sent.elapsed();
        function.wait_until_idle().await;
        let body: Value = response["body"].as_str().unwrap_or_default().parse().unwrap_or_default();
        let has_field = body.pointer(case.required).is_some_and(|value| !value.is_null());
        assert!(response["statusCode"] == 200 && has_field, "{}: {response}", case.name);
        times.push(milliseconds(time));
    }
    let warm = median(times.split_off(1 + WARM_UP));
    let size = fs::metadata(&case.program).unwrap().len() as f64 / 1e6;
    [init, times[0], warm, peak_memory_mib(&function.process), size]
}

/// The command that starts a function with only the variables for Lambda and the database.
fn function_command(program: &Path) -> Command {
    let log = File::create(Path::new(LOGS_FOLDER).join(program.file_name().unwrap())).unwrap();
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(env::vars().filter(|(name, _)| name.starts_with("AWS_")))
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    command
}

fn peak_memory_mib(process: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn medians(starts: &[Measurements]) -> Measurements {
    array::from_fn(|figure| median(starts.iter().map(|start| start[figure]).collect()))
}

/// The median, or the upper of the two middle values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
