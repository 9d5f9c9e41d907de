//! Writes `src/test_numbers.bin` from `test_numbers.json`:
//!
//! ```sh
//! cargo run -p format --example pack_test_numbers
//! ```
//!
//! The function reads a snapshot in any case. Building a dataset from records would add 200 KB to it.

use std::{error::Error, fs};

use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange},
};
use serde::Deserialize;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/test_numbers.bin");

#[derive(Deserialize)]
struct Records {
    carriers: Vec<Carrier>,
    area_codes: Vec<AreaCode>,
    exchanges: Vec<Exchange>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Records { carriers, area_codes, exchanges } =
        serde_json::from_str(include_str!("test_numbers.json"))?;
    fs::write(FILE, Dataset::new(carriers, area_codes, exchanges).pack()?)?;
    Ok(())
}
