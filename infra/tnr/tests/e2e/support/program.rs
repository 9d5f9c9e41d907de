//! Runs the local program.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Output},
    time::{Duration, Instant},
};

use reqwest::Response;
use serde_json::Value;
use tempfile::TempDir;

use super::{
    processes::{send_signal, wait_for_exit},
    service::http_client,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tnr");

/// The startup timeout for `serve`, which includes importing the sample.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The program as installed, without Cargo's environment variables.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    for variable in ["CARGO", "TNR_KEY", "TNR_DATA_DIR", "TNR_ENDPOINT_URL", "TNR_MIRROR"] {
        command.env_remove(variable);
    }
    command
}

/// A command that uses a data folder.
pub fn command_for(data_dir: &TempDir, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.arg("--data-dir").arg(data_dir.path());
    command
}

/// Runs the program with a data folder, and waits until it exits.
pub fn run(data_dir: &TempDir, arguments: &[&str]) -> Output {
    command_for(data_dir, arguments).output().unwrap()
}

/// Asserts that a command succeeded, and returns its stdout.
pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Asserts that no line is wider than a terminal.
pub fn assert_fits(what: &str, text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{what}: {line}");
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A running `serve` process. It stops when the test ends.
pub struct Server {
    pub process: Child,
    pub base_url: String,
    pub key: String,
    output: PathBuf,
    _folder: TempDir,
}

impl Server {
    /// Starts `serve` on a data folder.
    pub async fn on(data_dir: &TempDir, arguments: &[&str]) -> Self {
        Self::start(&mut command_for(data_dir, &[arguments, &["--port", "0"]].concat())).await
    }

    /// Starts `serve` on a database at a URL.
    pub async fn at(endpoint: &str, arguments: &[&str]) -> Self {
        let options = ["--port", "0", "--endpoint-url", endpoint];
        Self::start(&mut program(&[&options, arguments].concat())).await
    }

    /// Starts a command that serves, and waits until it reports that it is ready.
    pub async fn start(command: &mut Command) -> Self {
        let folder = TempDir::new().unwrap();
        let output = folder.path().join("output");
        let file = File::create(&output).unwrap();
        let process = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
        let mut server =
            Self { process, base_url: String::new(), key: String::new(), output, _folder: folder };
        server.wait_until_ready().await;
        server
    }

    async fn wait_until_ready(&mut self) {
        let deadline = Instant::now() + START_TIMEOUT;
        while !self.output().contains("Ctrl-C") {
            assert!(Instant::now() < deadline, "{}", self.output());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        (self.base_url, self.key) = (self.banner_value("base URL"), self.banner_value("API key"));
    }

    /// A banner line's value; empty if the line is missing.
    fn banner_value(&self, name: &str) -> String {
        let output = self.output();
        let value = output.lines().find_map(|line| line.trim().strip_prefix(name));
        value.unwrap_or_default().trim().to_owned()
    }

    /// The address of the operations port, which must be enabled.
    pub fn operations_url(&self) -> String {
        self.banner_value("metrics").strip_suffix("/metrics").unwrap().to_owned()
    }

    /// The program's output and log so far.
    pub fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }

    pub async fn response(&self, path: &str, key: &str) -> Response {
        let request = http_client().get(format!("{}{path}", self.base_url));
        request.bearer_auth(key).send().await.unwrap()
    }

    /// The response body for a request with the key that the program printed.
    pub async fn get(&self, path: &str) -> Value {
        self.response(path, &self.key).await.json().await.unwrap()
    }

    /// Kills the program, as a machine failure would.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Interrupts the program like Ctrl-C, and returns `true` if it exited cleanly.
    pub async fn interrupt(mut self) -> bool {
        send_signal("INT", &self.process);
        wait_for_exit(&mut self.process).await.success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may already have exited.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
