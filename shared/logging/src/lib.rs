//! Log filters, metrics in log lines, and error causes.
//!
//! This crate is independent of DynamoDB and HTTP.

mod causes;
mod filter;
mod metrics;

pub use causes::with_causes;
pub use filter::{filter, hide_panic_messages, init_json_logs};
pub use metrics::{Metric, NAMESPACE, Unit, metrics_line};
