//! Writes `src/test_numbers.bin` from `test_numbers.json`:
//!
//! ```sh
//! cargo run -p format --example pack_test_numbers
//! ```
//!
//! The function needs the code to read snapshots anyway. Building a dataset from records would add 200 KB to it.

use std::{error::Error, fs};

use numbering::dataset::Dataset;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/test_numbers.bin");

fn main() -> Result<(), Box<dyn Error>> {
    fs::write(FILE, Dataset::from_json(include_str!("test_numbers.json"))?.pack()?)?;
    Ok(())
}
