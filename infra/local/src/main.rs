use std::{env, ffi::OsString, process::ExitCode};

use tnr::{
    UNKNOWN_EXIT_CODE,
    commands::{self, Cli},
    show_error,
};

#[tokio::main]
async fn main() -> ExitCode {
    let line: Vec<OsString> = env::args_os().collect();
    let cli = match Cli::parse_line(&line) {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(&line, &error),
    };
    match commands::run(cli).await {
        Ok(code) => code,
        Err(error) => {
            show_error(&error);
            error.exit_code()
        }
    }
}

/// Prints a parse error or the requested help. For `doctor`, clap's exit code would mean that it found
/// problems.
fn print_usage_error(line: &[OsString], error: &clap::Error) -> ExitCode {
    let is_doctor = line.get(1).is_some_and(|command| command == "doctor");
    if error.use_stderr() && is_doctor {
        _ = error.print();
        return ExitCode::from(UNKNOWN_EXIT_CODE);
    }
    error.exit()
}
