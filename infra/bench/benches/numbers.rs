//! Measures the time to describe a phone number: parse and validate it, find its type and region,
//! and write it in four formats.
//!
//! ```sh
//! cargo bench -p bench --bench numbers
//! ```
//!
//! Compares this service with the npm packages `libphonenumber-js` (with all metadata) and
//! `google-libphonenumber`, the PyPI package `phonenumbers` and the crate `phonenumber`, in a steady
//! state and from a cold start. Packages are installed in `target`, and skipped without `npm` or
//! `python3`.
//!
//! Each contender is a process that answers each line with its duration in nanoseconds, so all are
//! measured alike. Those in Rust are this program again. The crate cannot check whether a number is
//! possible, so it does less than the others.

// A benchmark stops where it fails.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    env, fs,
    hint::black_box,
    io::{BufRead, BufReader, Lines, Write, stdin},
    path::{Path, PathBuf},
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

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/numbers");

/// Repetitions of each cold start; the median counts.
const COLD_STARTS: usize = 7;
/// Steady-state measurements, and the duration of each.
const STEADY_RUNS: usize = 10;
const STEADY_TIME: Duration = Duration::from_millis(100);

fn main() {
    if let Ok(name) = env::var(CONTENDER) {
        return answer_lines(&name);
    }
    let contenders = contenders();
    let steady = measure_steady_state(&contenders);
    let cold = measure_cold_starts(&contenders);
    println!("\nmicroseconds a number, and the ratio to this service");
    print_table(&["world", "North America", "Caribbean", "messy"], &contenders, &steady);
    println!(
        "\nmicroseconds from a cold start: to load the rules, then for one number after another"
    );
    print_table(
        &["load", "first, +1", "messy, +1", "first, +44", "further regions"],
        &contenders,
        &cold,
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

/// The command that starts a contender.
struct Contender {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    environment: (&'static str, PathBuf),
}

/// This service, then the contenders that could be installed.
fn contenders() -> Vec<Contender> {
    let program = env::current_exe().unwrap();
    let in_rust = [OURS, "phonenumber (crate)"].map(|name| Contender {
        name,
        program: program.clone(),
        arguments: Vec::new(),
        environment: (CONTENDER, name.into()),
    });
    let installed =
        [npm_package("libphonenumber-js"), npm_package("google-libphonenumber"), pypi_package()];
    in_rust.into_iter().chain(installed.into_iter().flatten()).collect()
}

fn npm_package(name: &'static str) -> Option<Contender> {
    let folder = packages_folder("npm");
    fs::copy(format!("{SCRIPTS}/package.json"), folder.join("package.json")).unwrap();
    let npm =
        ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--silent"];
    let is_installed = succeeds(Command::new("npm").args(npm).current_dir(&folder));
    is_installed.then(|| Contender {
        name,
        program: "node".into(),
        arguments: vec![format!("{SCRIPTS}/contender.js"), name.to_owned()],
        environment: ("NODE_PATH", folder.join("node_modules")),
    })
}

fn pypi_package() -> Option<Contender> {
    let folder = packages_folder("pypi");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"]).arg(&folder);
    pip.args(["--requirement", &format!("{SCRIPTS}/requirements.txt")]);
    let is_installed = folder.join("phonenumbers").exists() || succeeds(&mut pip);
    is_installed.then(|| Contender {
        name: "phonenumbers (PyPI)",
        program: "python3".into(),
        arguments: vec![format!("{SCRIPTS}/contender.py")],
        environment: ("PYTHONPATH", folder),
    })
}

fn packages_folder(registry: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("numbers").join(registry);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs an installer, and reports if it is missing or fails.
fn succeeds(installer: &mut Command) -> bool {
    let has_succeeded = installer.status().is_ok_and(|status| status.success());
    if !has_succeeded {
        println!("left out, since this failed: {installer:?}");
    }
    has_succeeded
}

/// A running contender.
struct Running {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts a contender. Also returns how long it took to load its rules.
    fn start(contender: &Contender) -> (Self, Duration) {
        let (name, value) = &contender.environment;
        let mut command = Command::new(&contender.program);
        command.args(&contender.arguments).env(name, value);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut running = Self { process, input, output };
        let load_time = running.answer();
        (running, load_time)
    }

    /// The time to describe all texts `passes` times.
    fn describe(&mut self, passes: u64, texts: &[String]) -> Duration {
        writeln!(self.input, "{}", serde_json::json!([passes, texts])).unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Duration {
        let nanoseconds = self.output.next().unwrap().unwrap();
        Duration::from_nanos(nanoseconds.parse().unwrap())
    }

    fn stop(mut self) {
        drop(self.input);
        self.process.wait().unwrap();
    }
}

/// Microseconds by contender and column.
type Times = BTreeMap<&'static str, Vec<f64>>;

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Each contender's minimum time per set, since other work on the machine only adds time.
fn measure_steady_state(contenders: &[Contender]) -> Times {
    let mut times = Times::new();
    for (set, texts) in sets() {
        for contender in contenders {
            eprintln!("{set}, {}", contender.name);
            let (mut running, _) = Running::start(contender);
            let warm_up = running.describe(3, &texts) / 3;
            let passes = (STEADY_TIME.as_nanos() / warm_up.as_nanos().max(1)).clamp(1, 1_000_000);
            let runs = (0..STEADY_RUNS).map(|_| running.describe(passes as u64, &texts));
            let least = microseconds(runs.min().unwrap_or_default());
            running.stop();
            let each = least / passes as f64 / texts.len() as f64;
            times.entry(contender.name).or_default().push(each);
        }
    }
    times
}

/// The medians of several cold starts of each contender, taken in turn.
fn measure_cold_starts(contenders: &[Contender]) -> Times {
    let [(_, world), ..] = sets();
    let mut rounds: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
    for _ in 0..COLD_STARTS {
        for contender in contenders {
            let (mut running, load_time) = Running::start(contender);
            let mut first = |text: &str| microseconds(running.describe(1, &[text.to_owned()]));
            let mut columns = vec![microseconds(load_time)];
            let firsts = ["+13052345678", "Jane: 305_234_5679 or cell", "+442079460958"];
            columns.extend(firsts.map(&mut first));
            columns.push(median(world.iter().map(|text| first(text)).collect()));
            running.stop();
            rounds.entry(contender.name).or_default().push(columns);
        }
    }
    let medians = |rounds: Vec<Vec<f64>>| {
        let columns = 0..rounds[0].len();
        columns.map(|column| median(rounds.iter().map(|round| round[column]).collect())).collect()
    };
    rounds.into_iter().map(|(name, rounds)| (name, medians(rounds))).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print_table(columns: &[&str], contenders: &[Contender], times: &Times) {
    let ours = &times[OURS];
    print!("{:<24}", "");
    columns.iter().for_each(|column| print!("{column:>20}"));
    println!();
    for Contender { name, .. } in contenders {
        print!("{name:<24}");
        for (time, ours) in times[name].iter().zip(ours) {
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
