//! The access log, and the facts recorded for each request.

pub mod request_context;
mod request_id;
pub mod telemetry;
