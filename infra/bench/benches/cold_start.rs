//! Measures how long the functions take to start and to answer, compared with a function that does
//! nothing and one that reads an item from DynamoDB:
//!
//! ```sh
//! cargo bench -p bench --bench cold_start
//! ```
//!
//! Builds what it needs, and prints Markdown.

use bench::{Error, cold_start};
use clap::Parser;

// Single-threaded, leaving the other cores to what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    println!("{}", cold_start::measure(&cold_start::Options::parse()).await?);
    Ok(())
}
