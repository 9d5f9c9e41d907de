//! The North American numbering data: codes, records, and the in-memory dataset for every list and search. Also the
//! ranges of other countries.
//!
//! This crate is independent of DynamoDB and HTTP.

pub mod changed_keys;
pub mod changes;
pub mod dataset;
pub mod ranges;
pub mod records;
pub mod time;
