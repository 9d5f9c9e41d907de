//! The programs to measure, built as deployed, and their data.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
};

use clap::Args;
use serde_json::Value;

use crate::Error;

/// The key in the sample events, registered in the benchmarks' database.
pub const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";
/// The folder for installed packages, logs and data.
pub const FOLDER: &str = "target/bench";

const FUNCTIONS: [&str; 5] = ["carriers", "npa", "format", "search", "status"];

/// The programs to measure, and their data.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Use release binaries of the functions from this folder instead of building them
    #[arg(long, value_name = "DIR")]
    functions: Option<PathBuf>,
    /// Use this build of the local program instead of building one
    #[arg(long, value_name = "FILE")]
    tnr: Option<PathBuf>,
    /// Folder with the published reports; without it the sample is imported
    #[arg(long, value_name = "DIR", env = "TNR_FULL_SCALE_DATA")]
    reports: Option<PathBuf>,
    /// Folder where the embedded DynamoDB keeps imported reports between runs
    #[arg(long, value_name = "DIR")]
    database: Option<PathBuf>,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// A run's programs, and the folder with their database.
#[derive(Debug)]
pub struct Programs {
    functions: PathBuf,
    tnr: PathBuf,
    data_folder: PathBuf,
    /// True for the published reports, false for the sample.
    pub is_full_scale: bool,
}

impl Programs {
    /// Builds the functions and the local program unless given. Imports the published reports, if any; a folder that
    /// already has them is not written.
    pub fn prepare(args: &ProgramArgs) -> Result<Self, Error> {
        // Paths are relative to the workspace, but cargo starts a benchmark in its package.
        env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
        let functions = FUNCTIONS.into_iter().filter(|_| args.functions.is_none());
        let programs = functions.chain(args.tnr.is_none().then_some("tnr"));
        let arguments: Vec<&str> = programs.flat_map(|program| ["--bin", program]).collect();
        if !arguments.is_empty() {
            build(Path::new("."), &arguments)?;
        }
        let release = Path::new("target/release");
        let is_full_scale = args.reports.is_some();
        let data = if is_full_scale { "full-scale" } else { "sample" };
        let programs = Self {
            functions: args.functions.clone().unwrap_or_else(|| release.to_owned()),
            tnr: args.tnr.clone().unwrap_or_else(|| release.join("tnr")),
            data_folder: args.database.clone().unwrap_or_else(|| Path::new(FOLDER).join(data)),
            is_full_scale,
        };
        if let Some(reports) = &args.reports {
            eprintln!("importing the published reports; the first time takes minutes");
            let mut command = programs.tnr("import");
            for (option, name) in [
                ("--nanpa", "CoCodeAssignment_Utilized_AllStates_Public.zip"),
                ("--cnac", "COCodeStatus_ALL.zip"),
                ("--npa-report", "npa_report.csv"),
                ("--carriers", "carriers.csv"),
            ] {
                command.arg(option).arg(reports.join(name));
            }
            output(&mut command)?;
        }
        Ok(programs)
    }

    /// The binary of a function.
    pub fn function(&self, name: &str) -> PathBuf {
        self.functions.join(name)
    }

    /// A command of the local program, on the benchmarks' data.
    fn tnr(&self, command: &str) -> Command {
        let mut tnr = Command::new(&self.tnr);
        tnr.arg(command).arg("--data-dir").arg(&self.data_folder);
        tnr
    }

    /// Starts a server command of the local program, which prints its URL after `name`.
    pub fn start(&self, command: &str, name: &str) -> Result<(Process, String), Error> {
        Process::start_server(self.tnr(command).args(["--port", "0", "--key", KEY]), name, command)
    }

    /// The machine and the data. Requires that a database is running or has run.
    pub fn description(&self) -> Result<String, Error> {
        let versions: Value = output(self.tnr("versions").arg("--json"))?.parse()?;
        let records = versions[0]["records"].as_u64().ok_or("the database has no version")?;
        let origin = if self.is_full_scale {
            "the published reports"
        } else {
            "the sample; TNR_FULL_SCALE_DATA names a folder with the published reports"
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let processor =
            field("/proc/cpuinfo", "model name").unwrap_or("an unknown processor".into());
        let memory = field("/proc/meminfo", "MemTotal").unwrap_or_default();
        Ok(format!("{cores} cores of {processor}, {memory}.\n{records} exchanges of {origin}."))
    }
}

/// Builds the baseline function `name`. Baselines have their own workspace, since they use default features.
pub fn build_baseline(name: &str) -> Result<PathBuf, Error> {
    let workspace = Path::new("infra/bench/baselines");
    build(workspace, &["--bin", name, "--target-dir", "../../../target/baselines"])?;
    Ok(Path::new("target/baselines/release").join(name))
}

fn build(workspace: &Path, arguments: &[&str]) -> Result<(), Error> {
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
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("cargo cannot build the programs".into()) }
}

/// The output of a command.
pub fn output(command: &mut Command) -> Result<String, Error> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("cannot start {program}: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A running program, killed on drop.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Kept open so the program can keep printing.
    _output: Option<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts a program that writes to a log.
    pub fn start(command: &mut Command, name: &str) -> Result<Self, Error> {
        let log = create_log(name)?;
        Ok(Self { child: spawn(command.stdout(log.try_clone()?).stderr(log))?, _output: None })
    }

    /// Starts a program, and returns the URL it prints after `name`.
    pub fn start_server(
        command: &mut Command,
        name: &str,
        log: &str,
    ) -> Result<(Self, String), Error> {
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(create_log(log)?))?;
        let mut output = BufReader::new(child.stdout.take().ok_or("the output is not piped")?);
        let mut process = Self { child, _output: None };
        loop {
            let mut line = String::new();
            if output.read_line(&mut line)? == 0 {
                return Err(format!("{log} ended before it was ready; see {FOLDER}/logs").into());
            }
            if let Some(address) = line.trim().strip_prefix(name) {
                process._output = Some(output);
                return Ok((process, address.trim().to_owned()));
            }
        }
    }

    /// A field of `/proc/PID/status`, in MiB: `VmRSS` is current memory, and `VmHWM` peak memory.
    pub fn memory(&self, name: &str) -> Result<f64, Error> {
        let file = format!("/proc/{}/status", self.child.id());
        let kibibytes = field(&file, name).ok_or_else(|| format!("{file} lacks {name}"))?;
        Ok(kibibytes.trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has already exited cannot be killed.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn spawn(command: &mut Command) -> Result<Child, Error> {
    let program = command.get_program().display().to_string();
    command.spawn().map_err(|error| format!("cannot start {program}: {error}").into())
}

fn create_log(name: &str) -> Result<File, Error> {
    let folder = Path::new(FOLDER).join("logs");
    fs::create_dir_all(&folder)?;
    Ok(File::create(folder.join(name))?)
}

/// A field's first value in a file of lines such as `name : value`.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(known, _)| known.trim() == name).map(|(_, value)| value.trim().to_owned())
}
