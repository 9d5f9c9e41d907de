//! Self-hosting: addresses, databases, shutdown, metrics, and installation files.

mod backup;
mod connections;
mod damage;
mod environment;
mod operations_port;
mod serving;
mod stopping;
