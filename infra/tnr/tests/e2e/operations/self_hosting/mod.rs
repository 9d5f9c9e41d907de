//! Self-hosting: addresses, databases, shutdown, metrics, and installation files.

mod connections;
mod operations_port;
mod serving;
mod stopping;
