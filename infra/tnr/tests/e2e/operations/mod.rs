//! Operations: commands, deployment, logs, and frozen processes.

mod access_log;
pub mod costs;
mod database_cost;
mod database_port;
mod documents;
mod endpoint_listings;
mod export;
mod flipped_bits;
mod json_output;
mod lambda;
mod log_privacy;
mod mcp;
mod pipes;
mod probe;
mod reading;
mod readme;
mod self_hosting;
#[cfg(target_os = "linux")]
mod sessions;
mod terminal;
