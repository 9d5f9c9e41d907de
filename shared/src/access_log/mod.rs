//! The access log: its lines, and what they tell of each request.

pub mod request_context;
mod request_id;
pub mod telemetry;
