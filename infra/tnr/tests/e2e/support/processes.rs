//! Manages processes and their environment.

use std::{
    env,
    fs::File,
    path::Path,
    process::{Child, Command, ExitStatus},
    str::FromStr,
    time::{Duration, Instant},
};

/// The maximum time to wait for a process, such as for its exit after a signal.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Sends a signal, such as `STOP`, to a process.
pub fn send_signal(signal: &str, process: &Child) {
    let pid = process.id().to_string();
    let status = Command::new("kill").args([format!("-{signal}"), pid]).status();
    assert!(status.unwrap().success(), "{signal}");
}

pub async fn wait_for_exit(process: &mut Child) -> ExitStatus {
    wait_until(async || process.try_wait().unwrap().is_some()).await;
    process.wait().unwrap()
}

/// Waits until `condition` is true.
pub async fn wait_until(mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + MAX_WAIT;
    while !condition().await {
        assert!(Instant::now() < deadline, "the condition is still false after {MAX_WAIT:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A command that runs an ignored test in this binary, by path, as a Lambda function that logs to a file. Callers add
/// the addresses of the services that it calls.
pub fn lambda_process(path: &str, output: &Path) -> Command {
    let file = File::create(output).unwrap();
    // The path starts with the crate name, which the harness omits.
    let (_, name) = path.split_once("::").unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", name, "--ignored", "--nocapture"])
        // With one thread, the harness writes a test's name before its output.
        .env("RUST_TEST_THREADS", "2")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .stdout(file.try_clone().unwrap())
        .stderr(file);
    command
}

/// The numeric value of a variable, if it is set.
pub fn setting<T: FromStr>(variable: &str) -> Option<T> {
    let text = env::var(variable).ok()?;
    let Ok(value) = text.parse() else { panic!("{variable} must be a number, got '{text}'") };
    Some(value)
}
