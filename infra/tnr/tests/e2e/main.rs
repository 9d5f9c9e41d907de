//! End-to-end tests: the service over HTTP, on an embedded DynamoDB.

// A failed unwrap fails the test.
#![allow(clippy::unwrap_used)]

mod api;
mod import;
mod operations;
mod support;
