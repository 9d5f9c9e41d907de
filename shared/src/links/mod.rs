//! Addresses in responses.

pub mod flag_images;
pub mod public_address;
