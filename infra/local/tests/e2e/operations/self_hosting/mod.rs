//! Self-hosting: addresses, databases, shutdown, metrics, and installation files.

mod backup;
mod connections;
mod damaged_folders;
mod damaged_items;
mod environment;
mod files;
mod operations_port;
mod serving;
mod stopping;
