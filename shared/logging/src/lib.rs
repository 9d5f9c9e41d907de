//! What the service tells its operators: which lines are logged, how metrics are written into them,
//! and the causes of an error.
//!
//! Knows neither DynamoDB nor HTTP.

mod causes;
mod filter;
mod metrics;

pub use causes::with_causes;
pub use filter::{filter, hide_panic_messages, log_as_json};
pub use metrics::{Metric, NAMESPACE, Unit, metrics_line};
