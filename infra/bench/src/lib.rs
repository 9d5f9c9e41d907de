//! What the benchmarks share: the services that they start, and how they print and draw what they
//! measured.

pub mod bar_chart;
pub mod cold_start;
pub mod database;
pub mod function;
pub mod load;
pub mod machine;
pub mod options;
pub mod process;
pub mod programs;
pub mod requests;
pub mod runtime_api;
pub mod table;

/// An error that ends a benchmark, to be read by who started it.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
