//! The programs to measure, and their database.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use clap::Args;

use super::requests::KEY;

/// The folder for logs and data.
const FOLDER: &str = "target/bench";

/// The programs to measure.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Folder with release binaries of the functions and of `tnr`
    #[arg(long, value_name = "DIR", default_value = "target/release")]
    programs: PathBuf,
    /// Folder with release binaries of the baselines
    #[arg(long, value_name = "DIR", default_value = "target/baselines/release")]
    baselines: PathBuf,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// The database of a run.
pub struct Data {
    /// The URL of the database.
    pub dynamodb: String,
    /// True for the published reports in `TNR_FULL_SCALE_DATA`, false for the sample.
    pub is_full_scale: bool,
    _database: Database,
}

impl ProgramArgs {
    /// Starts the database. The import of published reports is kept between runs.
    pub fn prepare(&self) -> Data {
        // Paths are relative to the workspace, but cargo starts a benchmark in its package.
        env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
        let reports = env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from);
        let data = if reports.is_some() { "full-scale" } else { "sample" };
        let tnr = |command: &str| {
            let mut tnr = Command::new(self.function("tnr"));
            tnr.args([command, "--data-dir"]).arg(Path::new(FOLDER).join(data));
            tnr
        };
        if let Some(reports) = &reports {
            eprintln!("importing the published reports; the first time takes minutes");
            import(tnr("import"), reports);
        }
        let (database, dynamodb) = Database::start(tnr("dynamodb"));
        Data { dynamodb, is_full_scale: reports.is_some(), _database: database }
    }

    /// The binary of a function.
    pub fn function(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// The binary of a baseline.
    pub fn baseline(&self, name: &str) -> PathBuf {
        self.baselines.join(name)
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
