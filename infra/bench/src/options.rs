//! What can be typed after `cargo bench -p bench --bench … --`.

use std::{env, path::PathBuf};

use clap::Args;

use crate::Error;

/// Which programs are measured, and on which data.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Measure the release binaries of the functions in this folder instead of building them
    #[arg(long, value_name = "DIR")]
    pub functions: Option<PathBuf>,
    /// Use this build of the local program instead of making one
    #[arg(long, value_name = "FILE")]
    pub tnr: Option<PathBuf>,
    /// Folder with the published reports; without it the sample is imported
    #[arg(long, value_name = "DIR", env = "TNR_FULL_SCALE_DATA")]
    pub reports: Option<PathBuf>,
    /// Where the embedded DynamoDB keeps the imported reports between runs
    #[arg(long, value_name = "DIR")]
    pub database: Option<PathBuf>,
    /// Cargo passes this to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Goes to the folder of the workspace, to which paths on the command line and those of files are
/// relative. Cargo starts a benchmark in the folder of its package.
pub fn enter_workspace() -> Result<(), Error> {
    Ok(env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?)
}
