//! Tests self-hosting: addresses, databases, shutdown, metrics, and installation files.

mod connections;
mod serving;
mod shutdown;
