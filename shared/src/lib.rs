//! The code that the functions behind the API share.
//!
//! A request passes through it in one direction: [`gateway`] restores the URL that the client
//! wrote, [`app`] finds its route, [`request_id`] names it, [`auth`] checks its key, [`quota`] counts
//! it, [`unknown_params`] refuses what its route does not know, [`params`] and
//! [`pagination`] parse it, [`body`] reads what it brings, a handler asks [`lookup`] for a record or a dataset, [`csv_pages`] and
//! [`cells`] write a page as CSV if the client prefers that, [`flags_base_url`] says where the images of flags
//! are that it links to, by default below the [`public_address`] of the service, [`errors`] turns a failure into a response,
//! [`http`] gives the response what HTTP asks of it, and [`telemetry`] writes its line of the access log.
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
