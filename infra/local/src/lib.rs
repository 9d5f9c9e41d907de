//! The service on one machine: every function behind one port, on an embedded DynamoDB.

mod answers;
pub mod args;
pub mod commands;
pub mod costs;
mod csv_errors;
pub mod database;
mod database_copy;
mod deletion_protection;
mod doctor;
mod error;
mod expiry;
mod export;
mod functions;
mod import_progress;
pub mod key_file;
mod new_file;
mod next_commands;
mod number_list;
mod numbering_data;
pub mod openapi;
mod operations_port;
mod private_file;
mod report;
pub mod sample;
pub mod sample_requests;
mod service_manager;
mod stack;
mod stop_signals;
pub mod tables;
pub mod template;
mod terminal;
mod terminal_log;

pub use error::{EXIT_CODE_OF_UNKNOWN, LocalError};
pub use functions::{functions, routes};
pub use terminal::show_error;
