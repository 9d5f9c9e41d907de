//! What the functions behind the API share.
//!
//! A request flows one way: [`gateway`] restores the URL that the client wrote, [`app`] wraps a
//! function's routes, [`auth`] lets the request in, [`quota`] counts it, [`params`] and
//! [`pagination`] parse it, a handler asks [`lookup`] for a record or a dataset, [`errors`] turns
//! whatever went wrong into the answer that a client sees, and [`telemetry`] writes its line in the
//! access log. [`state`] is what all of them can reach.

pub mod app;
pub mod auth;
pub mod errors;
mod extension;
pub mod gateway;
pub mod lookup;
pub mod pagination;
pub mod params;
pub mod quota;
pub mod request_context;
pub mod state;
pub mod telemetry;
