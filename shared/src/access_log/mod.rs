//! The access log.

pub mod request_context;
mod request_id;
pub mod telemetry;
