//! Measures how long libraries take to describe a phone number: parse and validate it, find its type
//! and region, and format it four ways. docs/BENCHMARKS.md lists the commands.
//!
//! Each contender runs in its own process, which responds to each line with a duration in
//! nanoseconds. Contenders in Rust are this program again. The crate `phonenumber` cannot check
//! whether a number is possible, so it does less than the others.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

use std::{
    env,
    hint::black_box,
    io::{BufRead, BufReader, Lines, Write, stdin},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use formatting::{DefaultCountry, PhoneNumber};
use phonenumber::{Mode, country, metadata::DATABASE};

/// The environment variable that names the Rust contender to run instead of the benchmark.
const CONTENDER: &str = "BENCH_CONTENDER";

const OURS: &str = "this service";

/// Contenders with their commands in `infra/bench/numbers`. Those without a command are this program.
const CONTENDERS: [(&str, &[&str]); 5] = [
    (OURS, &[]),
    ("phonenumber (crate)", &[]),
    ("libphonenumber-js", &["node", "contender.js", "libphonenumber-js"]),
    ("google-libphonenumber", &["node", "contender.js", "google-libphonenumber"]),
    ("phonenumbers (PyPI)", &["python3", "contender.py"]),
];

/// Cold starts per contender. The median counts.
const COLD_STARTS: usize = 7;
/// Steady-state runs. The minimum counts.
const STEADY_RUNS: usize = 10;
const STEADY_TIME: Duration = Duration::from_millis(100);

const NORTH_AMERICA: &str =
    "+13052345678\n+14162345678\n(212) 234-5678\n+18003569377\n+16042345678\n312.234.5678";
const CARIBBEAN: &str =
    "+18762345678\n+17872345678\n+12423456789\n+18092345678\n+18682345678\n+13402345678";

fn main() {
    if let Ok(name) = env::var(CONTENDER) {
        return run_contender(&name);
    }
    let is_installed = |(name, command): &(&str, &[&str])| {
        let is_installed = ContenderProcess::start(name, command).is_some();
        if !is_installed {
            println!("skipped because it does not start: {name}");
        }
        is_installed
    };
    let contenders: Vec<_> = CONTENDERS.into_iter().filter(is_installed).collect();
    println!("\nmicroseconds per number, and the ratio to this service");
    print_table(&sets().map(|(set, _)| set), &contenders, steady_state);
    println!("\nmicroseconds from a cold start: load the rules, then one number after another");
    let columns = ["load", "first, +1", "messy, +1", "first, +44", "more regions"];
    print_table(&columns, &contenders, cold_start);
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

struct ContenderProcess {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl ContenderProcess {
    /// Starts a contender. Also returns how long it took to load its rules; `None` if it does not start.
    fn start(name: &str, command: &[&str]) -> Option<(Self, Duration)> {
        let program = command.first().map_or_else(|| env::current_exe().unwrap(), PathBuf::from);
        let mut process = Command::new(program)
            .args(command.iter().skip(1))
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/numbers"))
            .env(CONTENDER, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let input = process.stdin.take()?;
        let output = BufReader::new(process.stdout.take()?).lines();
        let mut contender = Self { process, input, output };
        let load_time = contender.read_time()?;
        Some((contender, load_time))
    }

    /// Returns how many microseconds it takes to describe all inputs `passes` times.
    fn describe(&mut self, passes: u64, inputs: &[String]) -> f64 {
        writeln!(self.input, "{}", serde_json::json!([passes, inputs])).unwrap();
        microseconds(self.read_time().unwrap())
    }

    fn read_time(&mut self) -> Option<Duration> {
        let nanoseconds = self.output.next()?.ok()?;
        Some(Duration::from_nanos(nanoseconds.parse().ok()?))
    }
}

impl Drop for ContenderProcess {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A contender's minimum microseconds per number in each set.
fn steady_state(name: &str, command: &[&str]) -> Vec<f64> {
    let measure = |(set, inputs): (&str, Vec<String>)| {
        eprintln!("{set}, {name}");
        let (mut contender, _) = ContenderProcess::start(name, command).unwrap();
        let warm_up = contender.describe(3, &inputs) / 3.0;
        let passes = (microseconds(STEADY_TIME) / warm_up).clamp(1.0, 1e6);
        let runs = (0..STEADY_RUNS).map(|_| contender.describe(passes as u64, &inputs));
        runs.fold(f64::INFINITY, f64::min) / passes.floor() / inputs.len() as f64
    };
    sets().into_iter().map(measure).collect()
}

/// The medians of a contender's cold starts.
fn cold_start(name: &str, command: &[&str]) -> Vec<f64> {
    let [(_, worldwide), ..] = sets();
    let round = || {
        let (mut contender, load_time) = ContenderProcess::start(name, command).unwrap();
        let mut describe = |text: &str| contender.describe(1, &[text.to_owned()]);
        let inputs = ["+13052345678", "Jane: 305·234·5679 or cell", "+442079460958"];
        let [number, messy, british] = inputs.map(&mut describe);
        let more = median(worldwide.iter().map(|text| describe(text)).collect());
        [microseconds(load_time), number, messy, british, more]
    };
    let rounds: Vec<_> = (0..COLD_STARTS).map(|_| round()).collect();
    (0..5).map(|column| median(rounds.iter().map(|round| round[column]).collect())).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints each contender's times, and their ratios to this service's.
fn print_table(
    columns: &[&str],
    contenders: &[(&str, &[&str])],
    measure: fn(&str, &[&str]) -> Vec<f64>,
) {
    let rows: Vec<_> = contenders.iter().map(|(name, command)| measure(name, command)).collect();
    print!("{:<24}", "");
    columns.iter().for_each(|column| print!("{column:>20}"));
    println!();
    for ((name, _), times) in contenders.iter().zip(&rows) {
        print!("{name:<24}");
        for (time, ours) in times.iter().zip(&rows[0]) {
            print!("{:>20}", format!("{time:.1} {:>7}", format!("{:.1}x", time / ours)));
        }
        println!();
    }
}

/// Runs as a contender: prints how long loading the rules took, then the duration for each line.
fn run_contender(name: &str) {
    let started = Instant::now();
    let describe = if name == OURS {
        // Functions also load them on another thread.
        thread::spawn(formatting::load_rules).join().unwrap();
        describe_with_service
    } else {
        describe_with_crate
    };
    println!("{}", started.elapsed().as_nanos());
    for line in stdin().lines() {
        let (passes, inputs): (u64, Vec<String>) = serde_json::from_str(&line.unwrap()).unwrap();
        let started = Instant::now();
        for _ in 0..passes {
            inputs.iter().for_each(|text| describe(text));
        }
        println!("{}", started.elapsed().as_nanos());
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
