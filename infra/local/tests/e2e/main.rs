//! The service from outside: started on an embedded DynamoDB, spoken to over HTTP.

mod api;
mod import;
mod operations;
mod support;
