//! Responses to API clients. `events` has snapshots for each endpoint; the other files test what endpoints share, and
//! rules that no sample request shows.

mod authentication;
mod change_fields;
mod compression;
mod conditional_requests;
mod cors;
mod events;
mod failing_tables;
mod flags;
mod format;
mod format_many;
mod gateways;
mod headers;
mod iam_requests;
mod lists;
mod mcp;
mod openapi;
mod past_prices;
mod problem_details;
mod quotas;
mod raw_requests;
mod refusals;
mod serving_without_dynamodb;
mod site;
mod slow_database;
