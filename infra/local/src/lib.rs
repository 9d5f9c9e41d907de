//! The service on one machine: every function behind one port, with an embedded DynamoDB.

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

pub use error::{CliError, UNKNOWN_EXIT_CODE};
pub use functions::{functions, routes};
pub use terminal::show_error;
