//! What operators deal with: the commands, the deployment, the logs, and processes that are frozen.

mod access_log;
mod commands;
pub mod costs;
mod database_cost;
mod deployment;
mod doctor;
mod documents;
mod endpoint_places;
mod export;
mod flag_images;
mod freezing;
mod import_commands;
mod key_transfer;
mod key_transfer_model;
mod lambda;
mod log_privacy;
mod mcp;
mod number_lists;
mod probe;
mod published_reports;
mod reading;
mod readme;
mod sample_notes;
mod self_hosting;
mod terminal;
mod terminal_answers;
mod version_commands;
