//! The addresses to which answers link.

pub mod flag_images;
pub mod public_address;
