//! Response formats: JSON, errors, and pages as CSV.

pub mod cells;
pub mod csv_pages;
pub mod errors;
pub mod json;
