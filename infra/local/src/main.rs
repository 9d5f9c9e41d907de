use std::{env, ffi::OsString, process::ExitCode};

use tnr::{
    UNKNOWN_EXIT_CODE,
    commands::{self, Cli},
    show_error,
};

#[tokio::main]
async fn main() -> ExitCode {
    let line: Vec<OsString> = env::args_os().collect();
    let cli = match Cli::read(&line) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&line, &error),
    };
    match commands::run(cli).await {
        Ok(code) => code,
        Err(error) => {
            show_error(&error);
            error.exit_code()
        }
    }
}

/// Prints the parse error or the requested help. `doctor` has its own exit code, because clap's
/// means problems there.
fn not_understood(line: &[OsString], error: &clap::Error) -> ExitCode {
    let is_examination = line.get(1).is_some_and(|command| command == "doctor");
    if error.use_stderr() && is_examination {
        // The exit code reports the failure anyway.
        _ = error.print();
        return ExitCode::from(UNKNOWN_EXIT_CODE);
    }
    error.exit()
}
