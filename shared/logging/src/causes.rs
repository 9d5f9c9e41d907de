//! The causes of an error.

use std::error::Error;

/// An error's message followed by those of its causes, since the outer errors of HTTP and AWS
/// clients say little.
pub fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
