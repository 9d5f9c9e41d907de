//! Tests operations: commands, deployment, logs, costs, and frozen processes. `sessions` has shell sessions.

pub mod costs;
pub mod database_cost;
mod documents;
mod flipped_bits;
mod lambda;
mod log_privacy;
mod probe;
mod self_hosting;
#[cfg(target_os = "linux")]
mod sessions;
