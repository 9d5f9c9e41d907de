//! Measures how many requests the local server answers under load, compared with Express and
//! libphonenumber-js:
//!
//! ```sh
//! cargo bench -p bench --bench load
//! ```
//!
//! Builds and installs what it needs, and prints Markdown. `-- --seconds 3` is quicker.

use bench::{Error, load};
use clap::Parser;

// Single-threaded, leaving the other cores to what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    println!("{}", load::measure(&load::Options::parse()).await?);
    Ok(())
}
