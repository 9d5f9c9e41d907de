//! What every function of the service shares.
//!
//! A request flows one way: [`gateway`] restores what the client wrote, [`app`] wraps a function's
//! routes, [`auth`] lets it in, [`quota`] counts it, [`params`] and [`pagination`] parse it, a
//! handler asks [`lookup`] for a record or reads the [`dataset`], [`errors`] turns whatever went
//! wrong into the answer a client sees, and [`telemetry`] tells of it.

pub mod app;
pub mod auth;
pub mod dataset;
pub mod errors;
mod extension;
pub mod gateway;
pub mod logging;
pub mod lookup;
pub mod pagination;
pub mod params;
pub mod quota;
pub mod records;
pub mod store;
pub mod telemetry;
pub mod time;
