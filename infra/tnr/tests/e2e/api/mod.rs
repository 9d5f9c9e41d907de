//! Responses to API clients. `events` has snapshots for each endpoint. The other files test what endpoints share, and
//! rules that need a database or a socket. `shared/src/respond` has snapshots of the rules for every response.

mod authentication;
mod change_fields;
mod conditional_requests;
mod events;
mod failing_tables;
mod flags;
mod format;
mod format_many;
mod gateways;
mod iam_requests;
mod lists;
mod mcp;
mod openapi;
mod past_prices;
mod quotas;
mod raw_requests;
mod serving_without_dynamodb;
mod site;
mod slow_database;
