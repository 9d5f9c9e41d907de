//! The options of the command that describes lists of numbers.

use std::path::PathBuf;

use clap::Args;

use super::DataArgs;
use crate::{new_file::Replacement, number_list::ListOptions};

#[derive(Debug, Args)]
pub struct FormatArgs {
    /// A CSV, or a text with a number in each line; the standard input if left out or -
    pub file: Option<PathBuf>,
    /// Write to this file instead of stdout; it appears only when it is complete
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub list: ListOptions,
    /// End with exit code 1 if a number was rejected
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub data: DataArgs,
}
