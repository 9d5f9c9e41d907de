//! Request parameters.

pub mod pagination;
pub mod params;
pub mod past_time;
pub mod unknown_params;
