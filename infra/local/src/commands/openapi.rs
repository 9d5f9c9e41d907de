//! Prints the OpenAPI description.

use crate::{args::OpenapiVersion, openapi};

/// Prints the description as JSON, in this version of OpenAPI.
pub fn print(version: OpenapiVersion) {
    let description = match version {
        OpenapiVersion::V3_1 => openapi::description(),
        OpenapiVersion::V3_0 => openapi::description_3_0(),
    };
    println!("{description:#}");
}
