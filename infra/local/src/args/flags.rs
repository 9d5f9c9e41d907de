//! What can be typed for the images of flags.

use std::path::PathBuf;

use clap::Args;

use crate::new_file::Replacement;

#[derive(Debug, Args)]
pub struct FlagsArgs {
    /// The folder to write them into; it is made if it does not exist
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub replacement: Replacement,
}
