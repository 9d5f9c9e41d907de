//! The `openapi` command.

use crate::{CliError, args::OpenapiVersion, openapi, terminal};

/// Prints the description as JSON in an OpenAPI version.
pub fn print(version: OpenapiVersion) -> Result<(), CliError> {
    let description = match version {
        OpenapiVersion::V3_1 => openapi::description(),
        OpenapiVersion::V3_0 => openapi::description_3_0(),
    };
    terminal::print_raw(&format!("{description:#}\n"))
}
