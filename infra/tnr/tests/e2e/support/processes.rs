//! Manages processes and their environment.

use std::{
    env,
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

/// The numeric value of a variable, if it is set.
pub fn setting<T: FromStr>(variable: &str) -> Option<T> {
    let text = env::var(variable).ok()?;
    let Ok(value) = text.parse() else { panic!("{variable} must be a number, got '{text}'") };
    Some(value)
}
