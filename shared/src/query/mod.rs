//! Request parameters.

pub mod pagination;
pub mod params;
pub mod unknown_params;
