//! Processes that are started, stopped, continued and ended.

use std::{
    env,
    fs::File,
    path::Path,
    process::{Child, Command, ExitStatus},
    time::{Duration, Instant},
};

/// The longest wait for a process, such as for its end after a signal.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Sends a signal, such as `STOP`, to a process.
pub fn send_signal(signal: &str, process: &Child) {
    let pid = process.id().to_string();
    let status = Command::new("kill").args([format!("-{signal}"), pid]).status();
    assert!(status.unwrap().success(), "{signal}");
}

/// Waits until a process has ended by itself, and gives how.
pub async fn until_ended(process: &mut Child) -> ExitStatus {
    until(async || process.try_wait().unwrap().is_some()).await;
    process.wait().unwrap()
}

/// Waits until `condition` holds.
pub async fn until(mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + MAX_WAIT;
    while !condition().await {
        assert!(Instant::now() < deadline, "it is not so after {MAX_WAIT:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The command that runs a test of this program, by its path, which is otherwise ignored.
pub fn ignored_test(path: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    // The path begins with the name of the program, by which the harness does not call it.
    let (_, name) = path.split_once("::").unwrap();
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    command
}

/// The command that runs an ignored test as a Lambda function of an account, and writes what it logs into
/// a file. The services that it calls have to be added.
pub fn lambda_process(path: &str, output: &Path) -> Command {
    let file = File::create(output).unwrap();
    let mut command = ignored_test(path);
    command
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .stdout(file.try_clone().unwrap())
        .stderr(file);
    command
}
