//! Measures how long the functions take to start and to answer, compared with a function that does nothing and one that
//! reads an item from DynamoDB. docs/BENCHMARKS.md has the commands. Prints Markdown.

// A benchmark stops where it fails.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../../local/tests/e2e/support/lambda_runtime.rs"]
mod lambda_runtime;
#[allow(dead_code)]
#[path = "../../../local/tests/e2e/support/processes.rs"]
mod processes;
mod programs;
mod requests;

use std::{
    array, env, fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Parser;

use self::{
    lambda_runtime::{LambdaFunction, Registration},
    programs::{ProgramArgs, peak_memory},
    requests::{
        CARRIERS, EXCHANGE, EXCHANGES, FORMAT, HEALTH, Request, SEARCH_FILTERS, SEARCH_WORDS,
    },
};

/// Measures how long functions take to start and to answer.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench cold_start --")]
struct Options {
    #[command(flatten)]
    programs: ProgramArgs,
    /// Starts per function
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Requests between the first one and the measured warm ones.
const WARM_UP: usize = 20;
/// Warm requests to measure.
const WARM_REQUESTS: usize = 50;

/// A function, its request, and the figures of each start.
struct Subject {
    program: PathBuf,
    request: Request,
    starts: Vec<Figures>,
}

/// A function's figures: init, first answer and warm answer in milliseconds, peak memory in MiB, and binary size in MB.
type Figures = [f64; 5];
const HEADINGS: &str =
    "| | init, ms | first answer, ms | warm answer, ms | memory, MiB | binary, MB |";
const INIT: usize = 0;
const WARM: usize = 2;
const MEMORY: usize = 3;
const SIZE: usize = 4;

/// Measures everything, and prints the tables. Functions take turns, so other work on the machine affects
/// all of them. A single thread leaves the other cores to what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Options { programs, rounds } = Options::parse();
    // Paths are relative to the workspace, but cargo starts a benchmark in its package.
    env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
    let mut subjects = subjects(&programs);
    for round in 1..=rounds {
        eprint!("\rround {round} of {rounds}");
        for subject in &mut subjects {
            subject.starts.push(start(subject).await);
        }
    }
    let figures: Vec<(&str, Figures)> =
        subjects.into_iter().map(|it| (it.request.name, medians(&it.starts))).collect();
    println!(
        "\nMedians of {rounds} starts, and of {WARM_REQUESTS} warm answers after {WARM_UP} others\n"
    );
    println!("{HEADINGS}\n|---|---:|---:|---:|---:|---:|");
    for (name, figures) in &figures {
        println!("| {name} | {} |", figures.map(|figure| format!("{figure:.2}")).join(" | "));
    }
    print_goals(&figures);
}

/// The two baselines, then the functions.
fn subjects(programs: &ProgramArgs) -> Vec<Subject> {
    let baselines = requests::baselines().map(|it| (programs.baselines.join(it.program), it));
    let functions = requests::every_kind(programs.published);
    let functions = functions.map(|it| (programs.functions.join(it.program), it));
    let all = baselines.into_iter().chain(functions);
    all.map(|(program, request)| Subject { program, request, starts: Vec::new() }).collect()
}

async fn start(Subject { program, request, .. }: &Subject) -> Figures {
    let command = programs::function_command(program, request.program);
    let started = Instant::now();
    let mut function = LambdaFunction::start(command, Registration::Accepted).await;
    let init = milliseconds(started.elapsed());
    let event = request.event();
    let mut times = Vec::new();
    for _ in 0..=WARM_UP + WARM_REQUESTS {
        let id = function.begin(&event);
        let (answer, time) = function.timed_response(&id).await;
        function.until_idle().await;
        request.check(&answer);
        times.push(milliseconds(time));
    }
    let warm = median(times.split_off(1 + WARM_UP));
    let size = fs::metadata(program).unwrap().len() as f64 / 1e6;
    [init, times[0], warm, peak_memory(&function.process), size]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn medians(starts: &[Figures]) -> Figures {
    array::from_fn(|figure| median(starts.iter().map(|start| start[figure]).collect()))
}

/// The median; with an even count, the upper middle value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints the goals, each with its worst function. Where the machine matters, they are multiples of a baseline.
fn print_goals(figures: &[(&str, Figures)]) {
    let [(_, a), (_, b), functions @ ..] = figures else { return };
    let all: Vec<&str> = functions.iter().map(|(name, _)| *name).collect();
    let worst = |names: &[&str], figure: usize| {
        let wanted = functions.iter().filter(|(name, _)| names.contains(name));
        wanted.map(|(_, figures)| figures[figure]).fold(0.0, f64::max)
    };
    let from_snapshot = [EXCHANGES, CARRIERS, SEARCH_WORDS, SEARCH_FILTERS];
    println!("\n| goal | measured | at most |\n|---|---:|---:|");
    for (goal, measured, at_most, unit) in [
        ("init of a function with lists", worst(&from_snapshot, INIT) / b[INIT], 2.0, "x (b)"),
        ("init of `format`", worst(&[FORMAT], INIT) / b[INIT], 2.5, "x (b)"),
        ("init of `status`", worst(&[HEALTH], INIT) / b[INIT], 1.0, "x (b)"),
        ("warm list", worst(&[EXCHANGES, CARRIERS], WARM) / a[WARM], 1.5, "x (a)"),
        ("warm `format`", worst(&[FORMAT], WARM) / a[WARM], 1.5, "x (a)"),
        ("warm lookup of an exchange", worst(&[EXCHANGE], WARM) / b[WARM], 1.2, "x (b)"),
        ("warm search of two words", worst(&[SEARCH_WORDS], WARM) / a[WARM], 2.5, "x (a)"),
        ("memory of any function", worst(&all, MEMORY), 24.0, "MiB"),
        ("binary of any function", worst(&all, SIZE), 15.0, "MB"),
    ] {
        println!("| {goal} | {measured:.1} {unit} | {at_most:.1} {unit} |");
    }
}
