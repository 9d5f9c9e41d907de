//! Prints the OpenAPI description.

use std::io::{self, ErrorKind, Write};

use crate::{LocalError, args::OpenapiVersion, openapi};

/// Prints the description as JSON, in this version of OpenAPI. A reader that has read enough, such as
/// `head`, may close the pipe.
///
/// # Errors
/// Returns an error if the description cannot be written.
pub fn print(version: OpenapiVersion) -> Result<(), LocalError> {
    let description = match version {
        OpenapiVersion::V3_1 => openapi::description(),
        OpenapiVersion::V3_0 => openapi::description_3_0(),
    };
    match writeln!(io::stdout(), "{description:#}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(LocalError::io("cannot print the description")),
    }
}
