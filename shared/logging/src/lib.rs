//! Log lines for operators: their levels, the metrics in them, and the
//! causes of an error.
//!
//! This crate knows neither DynamoDB nor HTTP.

mod causes;
mod filter;
mod metrics;

pub use causes::with_causes;
pub use filter::{filter, hide_panic_messages, log_as_json};
pub use metrics::{Metric, NAMESPACE, Unit, metrics_line};
