//! Operator logs: log levels, embedded metrics, and error causes.
//!
//! This crate is independent of DynamoDB and HTTP.

mod causes;
mod filter;
mod metrics;

pub use causes::with_causes;
pub use filter::{filter, hide_panic_messages, log_as_json};
pub use metrics::{Metric, NAMESPACE, Unit, metrics_line};
