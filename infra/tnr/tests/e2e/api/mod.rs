//! Tests responses to API clients. `events` has snapshots. The other files test what endpoints share, and rules
//! that need a database or a socket. `shared/src/respond` has snapshots of the rules for every response.

mod countries;
mod endpoints;
mod events;
mod failing_tables;
mod format_many;
mod gateways;
pub mod lists;
mod mcp;
mod openapi;
mod quotas;
