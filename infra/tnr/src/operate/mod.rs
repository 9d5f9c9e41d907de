//! Operations: diagnosis, health checks, costs, flag images.

pub mod costs;
pub mod doctor;
pub mod flags;
pub mod health;
