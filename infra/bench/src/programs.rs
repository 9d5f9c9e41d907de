//! The programs that are measured, built as they are deployed.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Error, options::ProgramArgs};

/// Where the programs that the benchmarks start, their logs and their data are.
pub const FOLDER: &str = "target/bench";

/// A function that does nothing but answer.
pub const HELLO: &str = "hello";
/// A function that reads one item for each request, with a default client.
pub const HELLO_DYNAMODB: &str = "hello_dynamodb";

const FUNCTIONS: [&str; 5] = ["carriers", "npa", "format", "search", "status"];
const BASELINES_TARGET: &str = "target/baselines";

/// The programs of a run.
#[derive(Debug)]
pub struct Programs {
    functions: PathBuf,
    pub tnr: PathBuf,
}

impl Programs {
    /// Builds the functions and the local program, except for those that are named.
    pub fn build(args: &ProgramArgs) -> Result<Self, Error> {
        let mut wanted = Vec::new();
        if args.functions.is_none() {
            wanted.extend(FUNCTIONS);
        }
        if args.tnr.is_none() {
            wanted.push("tnr");
        }
        if !wanted.is_empty() {
            let programs = wanted.iter().flat_map(|program| ["--bin", program]);
            cargo_build(Path::new("."), programs)?;
        }
        let release = Path::new("target/release");
        Ok(Self {
            functions: args.functions.clone().unwrap_or_else(|| release.to_owned()),
            tnr: args.tnr.clone().unwrap_or_else(|| release.join("tnr")),
        })
    }

    /// The binary of a function.
    pub fn function(&self, name: &str) -> PathBuf {
        self.functions.join(name)
    }
}

/// Builds the functions that the others are compared with. They are a workspace of their own, since
/// they use the default features of their dependencies.
pub fn build_baselines() -> Result<(), Error> {
    cargo_build(Path::new("infra/bench/baselines"), ["--target-dir", "../../../target/baselines"])
}

/// The binary of a function that the others are compared with.
pub fn baseline(name: &str) -> PathBuf {
    Path::new(BASELINES_TARGET).join("release").join(name)
}

/// The log of a program.
pub fn log(name: &str) -> PathBuf {
    Path::new(FOLDER).join("logs").join(name)
}

fn cargo_build<'a>(
    workspace: &Path,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace).args(["build", "--release", "--locked"]).args(arguments);
    // Cargo sets these for a benchmark. To build scripts of dependencies they would be a change, for
    // which everything would be built again.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("cargo cannot build the programs".into()) }
}
