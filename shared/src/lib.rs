//! Code shared by the functions behind the API.
//!
//! A request flows in one direction. [`gateway`] restores the URL that the client sent, and [`app`] finds its route.
//! `respond` applies the rules in [`http`], has [`auth`] validate and charge the key, and calls the handler. [`params`]
//! and [`pagination`] parse the query. A handler gets records or a dataset from [`lookup`], or past data from [`past`],
//! and does expensive work in [`heavy_work`]. [`errors`] turns a failure into a response, and [`csv_pages`] writes a page
//! as CSV. [`telemetry`] writes the access log line, and [`export`] sends spans. [`state`] holds the data that
//! handlers share, and [`in_process`] calls handlers without a port.

pub mod app;
pub mod auth;
pub mod body;
#[cfg(test)]
mod case_table;
pub mod cells;
pub mod common_names;
pub mod config;
pub mod countries;
mod country_cache;
pub mod csv_pages;
pub mod described_params;
pub mod errors;
pub mod export;
pub mod gateway;
pub mod heavy_work;
pub mod http;
pub mod in_process;
pub mod json;
mod lambda;
pub mod lookup;
mod not_found;
pub mod pagination;
pub mod params;
pub mod past;
pub mod past_time;
pub mod public_address;
pub mod quota;
pub mod request_context;
mod request_trace;
mod respond;
pub mod routes;
pub mod state;
pub mod telemetry;
