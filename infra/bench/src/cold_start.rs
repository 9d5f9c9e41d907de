//! Measures how long functions take to start and to answer, compared with a minimal function.

use std::{fs, path::PathBuf, time::Duration};

use axum::body::Bytes;
use clap::Parser;

use crate::{
    Error,
    lambda::Function,
    programs::{ProgramArgs, Programs, build_baseline},
    requests::{
        self, CARRIERS, EXCHANGE, EXCHANGES, FORMAT, HEALTH, Request, SEARCH_FILTERS, SEARCH_WORDS,
    },
    table,
};

/// Measures how long functions take to start and to answer.
#[derive(Debug, Parser)]
#[command(name = "cargo bench -p bench --bench cold_start --")]
pub struct Options {
    #[command(flatten)]
    programs: ProgramArgs,
    /// Starts per function
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Requests between the first one and the measured warm ones
    #[arg(long, default_value_t = 20)]
    warm_up: u32,
    /// Warm requests to measure
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    warm: u32,
}

/// A function, its request, and the figures of each start.
struct Subject {
    program: PathBuf,
    request: Request,
    starts: Vec<Figures>,
}

/// A function's figures: init, first answer and warm answer in milliseconds, peak memory in MiB, and binary size in MB.
type Figures = [f64; 5];
const INIT: usize = 0;
const FIRST: usize = 1;
const WARM: usize = 2;
const MEMORY: usize = 3;
const SIZE: usize = 4;

/// Builds and measures everything, and returns the tables. Functions take turns, so other work on the machine affects
/// all of them.
pub async fn measure(options: &Options) -> Result<String, Error> {
    let programs = Programs::prepare(&options.programs)?;
    let (_database, dynamodb) = programs.start("dynamodb", "DynamoDB")?;
    let mut subjects = subjects(&programs)?;
    for round in 1..=options.rounds {
        eprint!("\rround {round} of {}", options.rounds);
        for subject in &mut subjects {
            subject.starts.push(start(subject, &dynamodb, options).await?);
        }
    }
    eprintln!();
    let figures: Vec<(&str, Figures)> =
        subjects.into_iter().map(|it| (it.request.name, medians(&it.starts))).collect();
    let Options { rounds, warm_up, warm, .. } = options;
    Ok(format!(
        "{}\nMedians of {rounds} starts of each function in turn; warm answers are medians of {warm} \
         after {warm_up} others.\n\n{}",
        programs.description()?,
        report(&figures),
    ))
}

/// The two baselines, then the functions.
fn subjects(programs: &Programs) -> Result<Vec<Subject>, Error> {
    let mut subjects = Vec::new();
    for request in [
        requests::baseline("(a) hello", "hello", "/message"),
        requests::baseline("(b) hello and one GetItem", "hello_dynamodb", "/attributes"),
    ] {
        let program = build_baseline(request.function)?;
        subjects.push(Subject { program, request, starts: Vec::new() });
    }
    for request in requests::every_kind(programs.is_full_scale) {
        let program = programs.function(request.function);
        subjects.push(Subject { program, request, starts: Vec::new() });
    }
    Ok(subjects)
}

async fn start(subject: &Subject, dynamodb: &str, options: &Options) -> Result<Figures, Error> {
    let Subject { program, request, .. } = subject;
    let event = Bytes::from(request.event().to_string());
    let mut function = Function::start(program, dynamodb, request.function).await?;
    let mut times = Vec::new();
    for _ in 0..=options.warm_up + options.warm {
        let answer = function.invoke(&event).await?;
        request.check(&answer.body)?;
        times.push(milliseconds(answer.time));
    }
    let warm = times.split_off(1 + options.warm_up as usize);
    let memory = function.process.memory("VmHWM")?;
    let size = fs::metadata(program)?.len() as f64 / 1e6;
    Ok([milliseconds(function.init), times[0], median(warm), memory, size])
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn medians(starts: &[Figures]) -> Figures {
    std::array::from_fn(|figure| median(starts.iter().map(|start| start[figure]).collect()))
}

/// The median; with an even count, the upper middle value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The figures, absolute, as multiples of each baseline, and against the goals.
fn report(figures: &[(&str, Figures)]) -> String {
    let headings = ["init", "first answer", "warm answer", "memory", "binary"];
    let units = ["ms", "ms", "ms", "MiB", "MB"];
    let columns: [String; 5] =
        std::array::from_fn(|figure| format!("{}, {}", headings[figure], units[figure]));
    let mut report = figures_table("", columns.each_ref().map(String::as_str), figures, &[1.0; 5]);
    for (name, baseline) in &figures[..2] {
        let title = format!("as a multiple of {name}");
        report += "\n";
        report += &figures_table(&title, headings, figures, baseline);
    }
    report + "\n" + &goals(figures)
}

fn figures_table(
    title: &str,
    columns: [&str; 5],
    figures: &[(&str, Figures)],
    divisors: &Figures,
) -> String {
    let [init, first, warm, memory, binary] = columns;
    let rows = figures.iter().map(|(name, figures)| {
        let cell = |figure: usize| format!("{:.2}", figures[figure] / divisors[figure]);
        [(*name).to_owned(), cell(INIT), cell(FIRST), cell(WARM), cell(MEMORY), cell(SIZE)]
    });
    table([title, init, first, warm, memory, binary], rows)
}

/// The goals, each with its worst function. Where the machine matters, they are multiples of a baseline.
fn goals(figures: &[(&str, Figures)]) -> String {
    let [(_, a), (_, b), functions @ ..] = figures else { return String::new() };
    let all: Vec<&str> = functions.iter().map(|(name, _)| *name).collect();
    let worst = |names: &[&str], figure: usize| {
        let wanted = functions.iter().filter(|(name, _)| names.contains(name));
        wanted.map(|(_, figures)| figures[figure]).fold(0.0, f64::max)
    };
    let from_snapshot = [EXCHANGES, CARRIERS, SEARCH_WORDS, SEARCH_FILTERS];
    let goals = [
        ("init of a function with lists", worst(&from_snapshot, INIT) / b[INIT], 2.0, "x (b)"),
        ("init of `format`", worst(&[FORMAT], INIT) / b[INIT], 2.5, "x (b)"),
        ("init of `status`", worst(&[HEALTH], INIT) / b[INIT], 1.0, "x (b)"),
        ("warm list", worst(&[EXCHANGES, CARRIERS], WARM) / a[WARM], 1.5, "x (a)"),
        ("warm `format`", worst(&[FORMAT], WARM) / a[WARM], 1.5, "x (a)"),
        ("warm lookup of an exchange", worst(&[EXCHANGE], WARM) / b[WARM], 1.2, "x (b)"),
        ("warm search of two words", worst(&[SEARCH_WORDS], WARM) / a[WARM], 2.5, "x (a)"),
        ("memory of any function", worst(&all, MEMORY), 24.0, "MiB"),
        ("binary of any function", worst(&all, SIZE), 15.0, "MB"),
    ];
    let rows = goals.map(|(goal, measured, at_most, unit)| {
        [goal.to_owned(), format!("{measured:.1} {unit}"), format!("{at_most:.1} {unit}")]
    });
    table(["goal", "measured", "at most"], rows)
}
