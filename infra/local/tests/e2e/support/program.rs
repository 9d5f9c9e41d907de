//! The local program, run as an operator types it.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Output},
    time::{Duration, Instant},
};

use reqwest::Response;
use serde_json::Value;
use tempfile::TempDir;

use super::{
    processes::{send_signal, until_ended},
    service::http_client,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tnr");

/// The time that `serve` has to start, with an import of the sample.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The program with these arguments, as it is installed: without what `cargo` says to those it runs.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    for variable in ["CARGO", "TNR_KEY", "TNR_DATA_DIR", "TNR_ENDPOINT_URL", "TNR_MIRROR"] {
        command.env_remove(variable);
    }
    command
}

/// The program with these arguments, on the data in a folder.
pub fn program_on(data_dir: &TempDir, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.arg("--data-dir").arg(data_dir.path());
    command
}

/// Runs the program on the data in a folder until it ends.
pub fn run(data_dir: &TempDir, arguments: &[&str]) -> Output {
    program_on(data_dir, arguments).output().unwrap()
}

/// The standard output of a command, which must have succeeded.
pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The standard error of a command.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The variables by which other programs find the embedded database of a folder that is served, and
/// log in to it.
pub fn database_variables(data_dir: &TempDir) -> Vec<(String, String)> {
    let file = fs::read_to_string(data_dir.path().join("dynamodb.env")).unwrap();
    let variables = file.lines().map(|line| line.split_once('=').unwrap());
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A running `serve`; it ends with the test.
pub struct Serving {
    pub process: Child,
    pub base_url: String,
    pub key: String,
    output: PathBuf,
    _folder: TempDir,
}

impl Serving {
    /// Starts `serve` on the data in a folder.
    pub async fn on(data_dir: &TempDir, arguments: &[&str]) -> Self {
        Self::start(&mut program_on(data_dir, &[arguments, &["--port", "0"]].concat())).await
    }

    /// Starts a command that serves, and waits until it says that it does.
    pub async fn start(command: &mut Command) -> Self {
        let folder = TempDir::new().unwrap();
        let output = folder.path().join("output");
        let file = File::create(&output).unwrap();
        let process = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
        let mut serving =
            Self { process, base_url: String::new(), key: String::new(), output, _folder: folder };
        serving.until_ready().await;
        serving
    }

    async fn until_ready(&mut self) {
        let deadline = Instant::now() + START_TIMEOUT;
        while !self.output().contains("Ctrl-C") {
            assert!(Instant::now() < deadline, "{}", self.output());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let output = self.output();
        let printed = |name: &str| {
            let value = output.lines().find_map(|line| line.trim().strip_prefix(name));
            value.unwrap_or_default().trim().to_owned()
        };
        (self.base_url, self.key) = (printed("base URL"), printed("API key"));
    }

    /// The address of the operations port, which the program was asked to open.
    pub fn operations_url(&self) -> String {
        let output = self.output();
        let address = output.lines().find_map(|line| line.trim().strip_prefix("metrics"));
        address.unwrap().trim().strip_suffix("/metrics").unwrap().to_owned()
    }

    /// The output and the log of the program so far.
    pub fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }

    /// The response to a request with a key.
    pub async fn response(&self, path: &str, key: &str) -> Response {
        let request = http_client().get(format!("{}{path}", self.base_url));
        request.bearer_auth(key).send().await.unwrap()
    }

    /// The body of the response to a request with the key that the program printed.
    pub async fn get(&self, path: &str) -> Value {
        self.response(path, &self.key).await.json().await.unwrap()
    }

    /// The same without flags, which other commands leave out, since they serve no images.
    pub async fn get_without_flags(&self, path: &str) -> Value {
        let mut answer = self.get(path).await;
        answer.as_object_mut().unwrap().shift_remove("flags");
        answer
    }

    /// Kills the program, as a machine that fails does.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Ends the program as Ctrl-C does, and gives whether it ended well.
    pub async fn interrupt(mut self) -> bool {
        send_signal("INT", &self.process);
        until_ended(&mut self.process).await.success()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A process that has ended by itself is no longer there to be killed.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The path of a file of the sample.
pub fn sample_file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample");
    folder.join(name).display().to_string()
}
