//! Formats errors with their causes.

use std::error::Error;

/// An error's message, followed by its causes. HTTP and AWS clients put the reason in the causes.
pub fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
