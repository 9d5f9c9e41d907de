//! The `openapi` command.

use clap::ValueEnum;

use crate::{CliError, openapi, terminal};

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OpenapiVersion {
    #[value(name = "3.1")]
    V3_1,
    #[value(name = "3.0")]
    V3_0,
}

/// Prints the description as JSON in an OpenAPI version.
pub fn print(version: OpenapiVersion) -> Result<(), CliError> {
    let description = match version {
        OpenapiVersion::V3_1 => openapi::description(),
        OpenapiVersion::V3_0 => openapi::description_3_0(),
    };
    terminal::print_raw(&format!("{description:#}\n"))
}
