//! The flags of countries and US states: which images there are, their paths and their bytes.
//!
//! The images are drawn ahead, by `.ci/flags/draw.mjs`, and are a part of each program that asks for
//! one (docs/decisions/0014-flags.md). A program that only links to them has none of their bytes.

mod archive;
mod image;

pub use archive::{VERSION, image, images};
pub use image::{Format, Image, Subject, path};
