//! The code that the functions behind the API share.
//!
//! A request passes through it in one direction. [`gateway`] restores the URL that the client wrote, [`app`] finds
//! its route, [`auth`] checks its key, and [`quota`] counts it. [`params`] and [`pagination`] parse its query. A
//! handler asks [`lookup`] for a record or a dataset. [`errors`] turns a failure into a response, [`csv_pages`]
//! writes a page as CSV, [`http`] applies the rules of HTTP, and [`telemetry`] writes the line of the access log.
//! [`state`] holds the data that all handlers share, and [`in_process`] asks the handlers without a port.

mod access_log;
pub mod app;
pub mod auth;
mod described_routes;
pub mod http;
pub mod in_process;
mod lambda;
mod links;
pub mod lookup;
mod output;
mod query;
pub mod quota;
mod routes;
pub mod state;

pub use access_log::{request_context, telemetry};
pub use http::body;
pub use lambda::gateway;
pub use links::{flag_images, public_address};
pub use output::{cells, csv_pages, errors};
pub use query::{pagination, params, unknown_params};
