//! Log filters, metrics in log lines, and error causes.
//!
//! This crate is independent of DynamoDB and HTTP.

mod filter;
mod metrics;

use std::error::Error;

pub use filter::{filter, hide_panic_messages, init_json_logs};
pub use metrics::{Metric, NAMESPACE, Unit, metrics_line};

/// Joins an error's message and its causes. HTTP and AWS clients put the reason in the causes.
pub fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}
