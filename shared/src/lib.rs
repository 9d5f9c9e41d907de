//! Code shared by the functions behind the API.
//!
//! A request flows in one direction. [`gateway`] restores the URL that the client sent, [`app`] finds its route,
//! [`auth`] validates its key and charges it, and [`quota`] counts it. [`params`] and [`pagination`] parse its query. A
//! handler gets a record or a dataset from [`lookup`], or from [`past`] as it was, and does expensive work in
//! [`heavy_work`]. [`errors`] turns a failure into a response, [`list`] parses a request for a list,
//! [`csv_pages`] writes a page as CSV, `respond` applies the
//! rules in [`http`], and [`telemetry`] writes the access log line. [`state`] holds the data that handlers share, and
//! [`in_process`] calls handlers without a port.

mod access_log;
pub mod app;
pub mod auth;
pub mod config;
pub mod heavy_work;
pub mod http;
pub mod in_process;
mod lambda;
mod links;
pub mod list;
pub mod lookup;
mod output;
pub mod past;
mod query;
pub mod quota;
mod respond;
mod route_table;
pub mod routes;
pub mod state;

pub use access_log::{request_context, telemetry};
pub use http::body;
pub use lambda::gateway;
pub use links::{flag_images, public_address};
pub use output::{cells, csv_pages, errors, json};
pub use query::{pagination, params, past_time, unknown_params};
