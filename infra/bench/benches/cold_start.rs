//! Measures how long the functions take to start and to answer, beside a function that does nothing
//! and one that reads an item from DynamoDB:
//!
//! ```sh
//! cargo bench -p bench --bench cold_start
//! ```
//!
//! Builds what it needs, prints Markdown, and draws a picture with `-- --svg docs/cold-start.svg`.

use std::fs;

use bench::{Error, cold_start, options::enter_workspace};
use clap::Parser;

// On one thread, which leaves the others to what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let options = cold_start::Options::parse();
    enter_workspace()?;
    let measured = cold_start::measure(&options).await?;
    println!("{}", cold_start::report(&measured));
    if let Some(file) = &options.svg {
        fs::write(file, cold_start::picture(&measured))?;
    }
    Ok(())
}
