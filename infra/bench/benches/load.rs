//! Measures how many requests the local server and the functions answer under load, beside a
//! service of Express and libphonenumber-js:
//!
//! ```sh
//! cargo bench -p bench --bench load
//! ```
//!
//! Builds and installs what it needs, and prints Markdown. `-- --seconds 3` is quicker.

use bench::{Error, load, options::enter_workspace};
use clap::Parser;

// On one thread, which leaves the others to what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let options = load::Options::parse();
    enter_workspace()?;
    println!("{}", load::report(&load::measure(&options).await?));
    Ok(())
}
