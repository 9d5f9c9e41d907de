//! Responses to API clients. `events` and `exchanges` have snapshots. The other files test what endpoints share, and rules
//! that need a database or a socket. `shared/src/respond` has snapshots of the rules for every response.

mod authentication;
mod change_fields;
mod conditional_requests;
mod events;
mod exchanges;
mod failing_tables;
mod flags;
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
