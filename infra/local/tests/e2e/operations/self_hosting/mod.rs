//! The service on a machine of one's own: what the server listens on and answers from, how it stops,
//! what it tells its operators, and the files that install it.

mod backup;
mod connections;
mod damaged_folders;
mod damaged_items;
mod environment;
mod files;
mod operations_port;
mod serving;
mod stopping;
