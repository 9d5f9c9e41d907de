//! The programs to measure, built as deployed, and their database.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use clap::Args;

/// The key in the sample events.
const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";
/// The folder for logs and data.
const FOLDER: &str = "target/bench";

const FUNCTIONS: [&str; 5] = ["carriers", "npa", "format", "search", "status"];

/// The programs to measure.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Use release binaries of the functions from this folder instead of building them
    #[arg(long, value_name = "DIR")]
    functions: Option<PathBuf>,
    /// Use this build of the local program instead of building one
    #[arg(long, value_name = "FILE")]
    tnr: Option<PathBuf>,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// A run's functions and database.
pub struct Programs {
    functions: PathBuf,
    /// The URL of the database.
    pub dynamodb: String,
    /// True for the published reports in `TNR_FULL_SCALE_DATA`, false for the sample.
    pub is_full_scale: bool,
    _database: Database,
}

impl Programs {
    /// Builds the functions and the local program unless given, and starts the database. The import of published
    /// reports is kept between runs.
    pub fn prepare(args: ProgramArgs) -> Self {
        // Paths are relative to the workspace, but cargo starts a benchmark in its package.
        env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
        let functions = FUNCTIONS.into_iter().filter(|_| args.functions.is_none());
        let programs: Vec<&str> = functions
            .chain(args.tnr.is_none().then_some("tnr"))
            .flat_map(|it| ["--bin", it])
            .collect();
        if !programs.is_empty() {
            build(Path::new("."), &programs);
        }
        let release = PathBuf::from("target/release");
        let tnr = args.tnr.unwrap_or_else(|| release.join("tnr"));
        let reports = env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from);
        let data = if reports.is_some() { "full-scale" } else { "sample" };
        let tnr = |command: &str| {
            let mut tnr = Command::new(&tnr);
            tnr.args([command, "--data-dir"]).arg(Path::new(FOLDER).join(data));
            tnr
        };
        if let Some(reports) = &reports {
            eprintln!("importing the published reports; the first time takes minutes");
            import(tnr("import"), reports);
        }
        let (database, dynamodb) = Database::start(tnr("dynamodb"));
        Self {
            functions: args.functions.unwrap_or(release),
            dynamodb,
            is_full_scale: reports.is_some(),
            _database: database,
        }
    }

    /// The binary of a function.
    pub fn function(&self, name: &str) -> PathBuf {
        self.functions.join(name)
    }
}

fn import(mut tnr: Command, reports: &Path) {
    for (option, name) in [
        ("--nanpa", "CoCodeAssignment_Utilized_AllStates_Public.zip"),
        ("--cnac", "COCodeStatus_ALL.zip"),
        ("--npa-report", "npa_report.csv"),
        ("--carriers", "carriers.csv"),
    ] {
        tnr.arg(option).arg(reports.join(name));
    }
    assert!(tnr.stdout(Stdio::null()).status().unwrap().success(), "the import has failed");
}

/// Builds the baseline function `name`. Baselines have their own workspace, since they use default features.
pub fn baseline(name: &str) -> PathBuf {
    let workspace = Path::new("infra/bench/baselines");
    build(workspace, &["--bin", name, "--target-dir", "../../../target/baselines"]);
    Path::new("target/baselines/release").join(name)
}

fn build(workspace: &Path, arguments: &[&str]) {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace).args(["build", "--release", "--locked"]).args(arguments);
    // Cargo sets these for a benchmark. Build scripts of dependencies would see a change, and everything would be
    // rebuilt.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    assert!(command.status().unwrap().success(), "cargo cannot build the programs");
}

/// The command that starts a function, with only what Lambda sets and the database's URL.
pub fn function_command(program: &Path, name: &str, dynamodb: &str) -> Command {
    let logs = Path::new(FOLDER).join("logs");
    fs::create_dir_all(&logs).unwrap();
    let log = File::create(logs.join(name)).unwrap();
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "local")
        .env("AWS_SECRET_ACCESS_KEY", "local")
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    command
}

/// The embedded database in a process, killed on drop.
struct Database {
    process: Child,
    /// Kept open so the program can keep printing.
    _output: BufReader<ChildStdout>,
}

impl Database {
    /// Starts the database, and returns the URL it prints.
    fn start(mut command: Command) -> (Self, String) {
        command.args(["--port", "0", "--key", KEY]).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let lines = output.by_ref().lines().map(Result::unwrap);
        let url = lines.filter_map(|line| line.trim().strip_prefix("DynamoDB").map(str::to_owned));
        let url = url.take(1).next().expect("the database has ended");
        (Self { process, _output: output }, url.trim().to_owned())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A process that has already exited cannot be killed.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// A process's peak memory in MiB.
pub fn peak_memory(process: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
