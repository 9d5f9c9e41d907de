//! The North American numbering data: its codes and records, and the dataset in memory that every
//! list and search is answered from.
//!
//! This crate knows neither DynamoDB nor HTTP.

pub mod dataset;
pub mod records;
pub mod time;
