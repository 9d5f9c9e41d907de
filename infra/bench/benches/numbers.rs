//! Measures the time to describe a phone number: parse and validate it, find its type and region,
//! and write it in four formats.
//!
//! ```sh
//! cd infra/bench/numbers && npm install --no-package-lock && pip install --requirement requirements.txt && cd -
//! cargo bench -p bench --bench numbers
//! ```
//!
//! Compares this service with the npm packages `libphonenumber-js` (with all metadata) and
//! `google-libphonenumber`, the PyPI package `phonenumbers` and the crate `phonenumber`, in a steady
//! state and from a cold start. Packages that are not installed are left out.
//!
//! Each contender is a process that answers each line with its duration in nanoseconds, so all are
//! measured alike. Those in Rust are this program again. The crate cannot check whether a number is
//! possible, so it does less than the others.

// A benchmark stops where it fails.
#![allow(clippy::unwrap_used)]

use std::{
    env,
    hint::black_box,
    io::{BufRead, BufReader, Lines, Write, stdin},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use formatting::{DefaultCountry, PhoneNumber};
use phonenumber::{Mode, country, metadata::DATABASE};

/// Names the Rust contender to run instead of the benchmark.
const CONTENDER: &str = "BENCH_CONTENDER";

/// The contender to compare the others with.
const OURS: &str = "this service";

/// The contenders, each with its command in `infra/bench/numbers`. Those without one are this program.
const CONTENDERS: [(&str, &[&str]); 5] = [
    (OURS, &[]),
    ("phonenumber (crate)", &[]),
    ("libphonenumber-js", &["node", "contender.js", "libphonenumber-js"]),
    ("google-libphonenumber", &["node", "contender.js", "google-libphonenumber"]),
    ("phonenumbers (PyPI)", &["python3", "contender.py"]),
];

/// Repetitions of each cold start; the median counts.
const COLD_STARTS: usize = 7;
/// Steady-state measurements, and the duration of each.
const STEADY_RUNS: usize = 10;
const STEADY_TIME: Duration = Duration::from_millis(100);

fn main() {
    if let Ok(name) = env::var(CONTENDER) {
        return answer_lines(&name);
    }
    let is_there = |(name, command): &(&str, &[&str])| {
        let is_there = Running::start(name, command).is_some();
        if !is_there {
            println!("left out, since it does not start: {name}");
        }
        is_there
    };
    let contenders: Vec<_> = CONTENDERS.into_iter().filter(is_there).collect();
    println!("\nmicroseconds a number, and the ratio to this service");
    let columns = sets().map(|(set, _)| set);
    print_table(
        &columns,
        contenders.iter().map(|(name, command)| (*name, steady_state(name, command))),
    );
    println!(
        "\nmicroseconds from a cold start: to load the rules, then for one number after another"
    );
    let columns = ["load", "first, +1", "messy, +1", "first, +44", "further regions"];
    print_table(
        &columns,
        contenders.iter().map(|(name, command)| (*name, cold_start(name, command))),
    );
}

/// Each set's numbers.
fn sets() -> [(&'static str, Vec<String>); 4] {
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    let world = include_str!("../../../shared/formatting/tests/agreement/one_of_each_region.txt");
    let messy = include_str!("../../../functions/format/src/messy_numbers.json");
    let messy: Vec<String> = serde_json::from_str(messy).unwrap();
    [
        ("world", lines(world)),
        (
            "North America",
            lines(
                "+13052345678\n+14162345678\n(212) 234-5678\n+18003569377\n+16042345678\n312.234.5678",
            ),
        ),
        (
            "Caribbean",
            lines(
                "+18762345678\n+17872345678\n+12423456789\n+18092345678\n+18682345678\n+13402345678",
            ),
        ),
        // One in eight is enough: some contenders take milliseconds each.
        ("messy", messy.into_iter().step_by(8).collect()),
    ]
}

/// A running contender.
struct Running {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts a contender. Also returns how long it took to load its rules; `None` if it cannot.
    fn start(name: &str, command: &[&str]) -> Option<(Self, Duration)> {
        let mut process = match command {
            [] => Command::new(env::current_exe().unwrap()),
            [program, arguments @ ..] => {
                let mut process = Command::new(program);
                process.args(arguments);
                process
            }
        };
        process.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/numbers")).env(CONTENDER, name);
        let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let input = process.stdin.take()?;
        let output = BufReader::new(process.stdout.take()?).lines();
        let mut running = Self { process, input, output };
        let load_time = running.answer()?;
        Some((running, load_time))
    }

    /// The microseconds to describe all texts `passes` times.
    fn describe(&mut self, passes: u64, texts: &[String]) -> f64 {
        writeln!(self.input, "{}", serde_json::json!([passes, texts])).unwrap();
        microseconds(self.answer().unwrap())
    }

    fn answer(&mut self) -> Option<Duration> {
        let nanoseconds = self.output.next()?.ok()?;
        Some(Duration::from_nanos(nanoseconds.parse().ok()?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A contender's minimum microseconds per number of each set, since other work on the machine only adds time.
fn steady_state(name: &str, command: &[&str]) -> Vec<f64> {
    let of_set = |(set, texts): (&str, Vec<String>)| {
        eprintln!("{set}, {name}");
        let (mut running, _) = Running::start(name, command).unwrap();
        let warm_up = running.describe(3, &texts) / 3.0;
        let passes = (microseconds(STEADY_TIME) / warm_up).clamp(1.0, 1e6);
        let runs = (0..STEADY_RUNS).map(|_| running.describe(passes as u64, &texts));
        runs.fold(f64::INFINITY, f64::min) / passes.floor() / texts.len() as f64
    };
    sets().into_iter().map(of_set).collect()
}

/// The medians of several cold starts of a contender.
fn cold_start(name: &str, command: &[&str]) -> Vec<f64> {
    let [(_, world), ..] = sets();
    let round = || {
        let (mut running, load_time) = Running::start(name, command).unwrap();
        let mut first = |text: &str| running.describe(1, &[text.to_owned()]);
        let firsts = ["+13052345678", "Jane: 305_234_5679 or cell", "+442079460958"];
        let [number, messy, british] = firsts.map(&mut first);
        let further = median(world.iter().map(|text| first(text)).collect());
        [microseconds(load_time), number, messy, british, further]
    };
    let rounds: Vec<_> = (0..COLD_STARTS).map(|_| round()).collect();
    (0..5).map(|column| median(rounds.iter().map(|round| round[column]).collect())).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints each contender's times, and their ratios to the first one's.
fn print_table(columns: &[&str], rows: impl Iterator<Item = (&'static str, Vec<f64>)>) {
    let rows: Vec<_> = rows.collect();
    print!("{:<24}", "");
    columns.iter().for_each(|column| print!("{column:>20}"));
    println!();
    for (name, times) in &rows {
        print!("{name:<24}");
        for (time, ours) in times.iter().zip(&rows[0].1) {
            print!("{:>20}", format!("{time:.1} {:>7}", format!("{:.1}x", time / ours)));
        }
        println!();
    }
}

/// Acts like the contenders in other languages: prints how long loading the rules took, then answers each line with its
/// duration.
fn answer_lines(name: &str) {
    let started = Instant::now();
    let describe = if name == OURS {
        // They can load on another thread, in parallel with other setup.
        thread::spawn(formatting::load_rules).join().unwrap();
        describe_by_service
    } else {
        describe_by_crate
    };
    println!("{}", started.elapsed().as_nanos());
    for line in stdin().lines() {
        let (passes, texts): (u64, Vec<String>) = serde_json::from_str(&line.unwrap()).unwrap();
        let started = Instant::now();
        for _ in 0..passes {
            texts.iter().for_each(|text| describe(text));
        }
        println!("{}", started.elapsed().as_nanos());
    }
}

fn describe_by_service(text: &str) {
    black_box(PhoneNumber::parse(black_box(text), DefaultCountry::default()));
}

fn describe_by_crate(text: &str) {
    let Ok(number) = phonenumber::parse(Some(country::US), black_box(text)) else { return };
    black_box(number.is_valid());
    black_box(number.number_type(&DATABASE));
    black_box(number.country().id());
    for mode in [Mode::E164, Mode::International, Mode::National, Mode::Rfc3966] {
        black_box(number.format().mode(mode).to_string());
    }
}
