//! The `tnr` program: the service on one machine with an embedded DynamoDB, and its commands.

pub mod commands;
pub mod data;
pub mod database;
mod error;
mod functions;
pub mod keys;
mod new_file;
mod numbers;
pub mod openapi;
pub mod operate;
mod serve;
mod stop_signals;
pub mod template;
mod terminal;
mod web_pages;

pub use error::{CliError, FAILURE_EXIT_CODE};
pub use functions::{functions, routes};
pub use terminal::{show_error, show_usage_error};
