//! The programs to measure.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command},
};

use clap::Args;

/// The folder for logs.
const LOGS: &str = "target/bench/logs";

/// The programs to measure, and their data.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Folder with release binaries of the functions
    #[arg(long, value_name = "DIR", default_value = "target/release")]
    pub functions: PathBuf,
    /// Folder with release binaries of the baselines
    #[arg(long, value_name = "DIR", default_value = "target/baselines/release")]
    pub baselines: PathBuf,
    /// Request carriers of the published reports instead of the sample's
    #[arg(long)]
    pub published: bool,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// The command that starts a function, with only what Lambda sets and the variables of the database.
pub fn function_command(program: &Path, name: &str) -> Command {
    fs::create_dir_all(LOGS).unwrap();
    let log = File::create(Path::new(LOGS).join(name)).unwrap();
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(env::vars().filter(|(name, _)| name.starts_with("AWS_")))
        .env("AWS_LAMBDA_LOG_FORMAT", "JSON")
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    command
}

/// A process's peak memory in MiB.
pub fn peak_memory(process: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
