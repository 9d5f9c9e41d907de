//! The addresses that responses link to.

pub mod flag_images;
pub mod public_address;
