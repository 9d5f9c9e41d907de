//! The service from outside: started on an embedded DynamoDB, spoken to over HTTP.

// A test ends where it fails.
#![allow(clippy::unwrap_used)]

mod api;
mod import;
mod operations;
mod support;
