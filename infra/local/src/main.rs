use std::process::ExitCode;

use clap::Parser;
use logging::with_causes;
use tnr::{args::Cli, commands};

#[tokio::main]
async fn main() -> ExitCode {
    match commands::run(Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", with_causes(&error));
            error.exit_code()
        }
    }
}
