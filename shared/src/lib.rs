//! The code that the functions behind the API share.
//!
//! A request passes through it in one direction. [`gateway`] restores the URL that the client wrote, [`app`] finds
//! its route, [`auth`] checks its key, and [`quota`] counts it. [`params`] and [`pagination`] parse its query. A
//! handler asks [`lookup`] for a record or a dataset. [`errors`] turns a failure into a response, [`csv_pages`]
//! writes a page as CSV, [`http`] applies the rules of HTTP, and [`telemetry`] writes the line of the access log.
//! [`state`] holds the data that all handlers share, and [`in_process`] asks the handlers without a port.

pub mod app;
pub mod auth;
pub mod body;
pub mod cells;
pub mod csv_pages;
mod described_routes;
pub mod errors;
mod extension;
pub mod flag_images;
pub mod gateway;
pub mod http;
pub mod in_process;
pub mod lookup;
pub mod pagination;
pub mod params;
pub mod public_address;
pub mod quota;
pub mod request_context;
mod request_id;
mod routes;
pub mod state;
pub mod telemetry;
pub mod unknown_params;
mod whole_response;
