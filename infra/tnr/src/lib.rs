//! The `tnr` program: the service on one machine with an embedded DynamoDB, and its commands.

pub mod commands;
pub mod data;
pub mod database;
mod error;
pub mod keys;
mod new_file;
mod numbers;
pub mod openapi;
pub mod operate;
mod serve;
mod stop_signals;
mod terminal;
mod web_pages;

pub use error::{CliError, FAILURE_EXIT_CODE};
pub use terminal::{show_error, show_usage_error};

use shared::routes::Routes;

/// The functions behind the API, by name.
pub fn functions() -> Vec<(&'static str, Routes)> {
    vec![
        ("carriers", carriers::routes()),
        ("npa", npa::routes()),
        ("format", format::routes()),
        ("search", search::routes()),
        ("status", status::routes()),
        ("mcp", mcp::routes()),
        ("site", site::routes()),
    ]
}

pub fn routes() -> Vec<Routes> {
    functions().into_iter().map(|(_, routes)| routes).collect()
}
