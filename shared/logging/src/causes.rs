//! An error with its causes.

use std::error::Error;

/// The message of an error, followed by its causes. The outer errors of HTTP and AWS clients say little.
pub fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
