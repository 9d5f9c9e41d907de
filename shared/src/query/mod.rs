//! The parameters of requests.

pub mod pagination;
pub mod params;
pub mod unknown_params;
