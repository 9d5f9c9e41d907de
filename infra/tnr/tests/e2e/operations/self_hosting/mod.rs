//! Self-hosting: addresses, databases, shutdown, metrics, and installation files.

mod connections;
mod environment;
mod operations_port;
mod serving;
mod stopping;
