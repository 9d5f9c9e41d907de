use std::{env, ffi::OsString, process::ExitCode};

use tnr::{
    FAILURE_EXIT_CODE,
    commands::{self, Cli},
    operate::doctor::UNKNOWN_EXIT_CODE,
    show_error, show_usage_error,
};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let runtime = Runtime::new().expect("the system has threads for the runtime");
    let code = runtime.block_on(run());
    // Dropping the runtime would wait for a read from stdin, which may never return after a signal to `tnr mcp`.
    runtime.shutdown_background();
    code
}

async fn run() -> ExitCode {
    let args: Vec<OsString> = env::args_os().collect();
    let cli = match Cli::parse_args(&args) {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(&args, &error),
    };
    match commands::run(cli).await {
        Ok(code) => code,
        Err(error) => {
            show_error(&error);
            error.exit_code()
        }
    }
}

/// Prints a parse error or the requested help. Changes the exit code for `doctor`, where clap's would mean that it
/// found problems.
fn print_usage_error(args: &[OsString], error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    show_usage_error(error);
    let is_doctor = args.get(1).is_some_and(|command| command == "doctor");
    ExitCode::from(if is_doctor { UNKNOWN_EXIT_CODE } else { FAILURE_EXIT_CODE })
}
