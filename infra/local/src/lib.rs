//! The service on one machine: every function behind one port, on an embedded DynamoDB.

pub mod args;
mod aws_account;
pub mod commands;
pub mod costs;
pub mod database;
mod error;
mod expiry;
mod functions;
pub mod key_file;
pub mod openapi;
mod report;
pub mod sample;
pub mod sample_requests;
mod stack;
pub mod template;

pub use error::LocalError;
pub use functions::{functions, routes};
