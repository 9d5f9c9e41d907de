//! Measures how long libraries take to describe a phone number: parse and validate it, find its type
//! and region, and format it four ways. docs/BENCHMARKS.md lists the commands.
//!
//! Contenders in other languages run in their own process, which responds to each line with a duration
//! in nanoseconds. The crate `phonenumber` cannot check whether a number is possible, so it does less
//! than the others.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

use std::{
    hint::black_box,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use formatting::{DefaultCountry, PhoneNumber};
use phonenumber::{Mode, country, metadata::DATABASE};

/// Contenders in other languages, with their commands in `infra/bench/numbers`.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("libphonenumber-js", &["node", "contender.js", "libphonenumber-js"]),
    ("google-libphonenumber", &["node", "contender.js", "google-libphonenumber"]),
    ("phonenumbers (PyPI)", &["python3", "contender.py"]),
];

/// Runs per contender and set. The minimum counts.
const RUNS: usize = 10;
const RUN_TIME: Duration = Duration::from_millis(100);

const NORTH_AMERICA: &str =
    "+13052345678\n+14162345678\n(212) 234-5678\n+18003569377\n+16042345678\n312.234.5678";
const CARIBBEAN: &str =
    "+18762345678\n+17872345678\n+12423456789\n+18092345678\n+18682345678\n+13402345678";

fn main() {
    let crates = [
        ("this service", Contender::Function(describe_with_service)),
        ("phonenumber (crate)", Contender::Function(describe_with_crate)),
    ];
    let others = COMMANDS.into_iter().filter_map(|(name, command)| {
        let process = Contender::start(command);
        if process.is_none() {
            println!("skipped because it does not start: {name}");
        }
        Some((name, process?))
    });
    let (sets, mut ours) = (sets(), Vec::new());
    println!("\nmicroseconds per number, and the ratio to this service");
    let names = sets.each_ref().map(|(set, _)| format!("{set:>20}"));
    println!("{:<24}{}", "", names.concat());
    for (name, mut contender) in crates.into_iter().chain(others) {
        let times = sets.each_ref().map(|(_, inputs)| contender.time_per_number(inputs));
        ours.extend((ours.is_empty()).then_some(times));
        let cells = times.iter().zip(&ours[0]);
        let cells =
            cells.map(|(time, ours)| format!("{:>20}", format!("{time:.2} ({:.1})", time / ours)));
        println!("{name:<24}{}", cells.collect::<String>());
    }
}

/// The sets of phone numbers to measure.
fn sets() -> [(&'static str, Vec<String>); 4] {
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    let worldwide =
        include_str!("../../../shared/formatting/tests/agreement/one_of_each_region.txt");
    let messy = include_str!("../../../functions/format/src/messy_numbers.json");
    let messy: Vec<String> = serde_json::from_str(messy).unwrap();
    [
        ("world", lines(worldwide)),
        ("North America", lines(NORTH_AMERICA)),
        ("Caribbean", lines(CARIBBEAN)),
        // One in eight is enough, because some contenders take milliseconds per number.
        ("messy", messy.into_iter().step_by(8).collect()),
    ]
}

enum Contender {
    Function(fn(&str)),
    Process { process: Child, input: ChildStdin, output: Lines<BufReader<ChildStdout>> },
}

impl Contender {
    /// Starts a process and waits until it has loaded its rules; `None` if it does not start.
    fn start(command: &[&str]) -> Option<Self> {
        let mut process = Command::new(command[0])
            .args(&command[1..])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/numbers"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let input = process.stdin.take()?;
        let mut output = BufReader::new(process.stdout.take()?).lines();
        output.next()?.ok()?;
        Some(Self::Process { process, input, output })
    }

    /// Returns how many microseconds it takes to describe all inputs `passes` times.
    fn describe(&mut self, passes: u64, inputs: &[String]) -> f64 {
        match self {
            Self::Function(describe) => {
                let started = Instant::now();
                (0..passes).for_each(|_| inputs.iter().for_each(|text| describe(text)));
                started.elapsed().as_secs_f64() * 1e6
            }
            Self::Process { input, output, .. } => {
                writeln!(input, "{}", serde_json::json!([passes, inputs])).unwrap();
                output.next().unwrap().unwrap().parse::<f64>().unwrap() / 1e3
            }
        }
    }

    /// The minimum microseconds per number.
    fn time_per_number(&mut self, inputs: &[String]) -> f64 {
        let warm_up = self.describe(3, inputs) / 3.0;
        let passes = (RUN_TIME.as_secs_f64() * 1e6 / warm_up).clamp(1.0, 1e6).floor();
        let runs = (0..RUNS).map(|_| self.describe(passes as u64, inputs));
        runs.fold(f64::INFINITY, f64::min) / passes / inputs.len() as f64
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        if let Self::Process { process, .. } = self {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

fn describe_with_service(text: &str) {
    black_box(PhoneNumber::parse(black_box(text), DefaultCountry::default()));
}

fn describe_with_crate(text: &str) {
    let Ok(number) = phonenumber::parse(Some(country::US), black_box(text)) else { return };
    black_box(number.is_valid());
    black_box(number.number_type(&DATABASE));
    black_box(number.country().id());
    for mode in [Mode::E164, Mode::International, Mode::National, Mode::Rfc3966] {
        black_box(number.format().mode(mode).to_string());
    }
}
