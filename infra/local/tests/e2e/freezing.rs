//! Requests are counted exactly although the process is stopped right after each response and goes on
//! later, as Lambda does with a container that has nothing to do.
//!
//! `TNR_FREEZE_MS` sets how long most of the freezes last, 2000 for what Lambda mostly does.

use std::{
    env,
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::{Client, StatusCode};
use shared::auth::ApiKey;
use tempfile::TempDir;
use tnr::database::Database;

use crate::{
    fault_proxy::{Fault, FaultProxy},
    quota::{counted, key},
    service::{KEY, Service, http_client},
};

const PROCESSES: usize = 5;
const REQUESTS_EACH: usize = 40;
const REQUESTS: usize = PROCESSES * REQUESTS_EACH;
/// Every so many freezes one lasts longer than a write may take.
const LONG_FREEZE_EVERY: usize = 10;
const LONG_FREEZE: Duration = Duration::from_millis(1800);
const DEFAULT_FREEZE_MS: u64 = 120;

fn freeze() -> Duration {
    let set = env::var("TNR_FREEZE_MS").ok().and_then(|text| text.parse().ok());
    Duration::from_millis(set.unwrap_or(DEFAULT_FREEZE_MS))
}

/// Sends a signal to a process.
pub fn send(signal: &str, process: &Child) {
    let sent =
        Command::new("kill").arg(format!("-{signal}")).arg(process.id().to_string()).status();
    assert!(sent.unwrap().success(), "{signal}");
}

/// Waits until a process has ended by itself.
pub async fn ended(process: &mut Child) {
    let deadline = Instant::now() + Duration::from_secs(15);
    while process.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the process does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The program, serving from a DynamoDB at some address; ended with the test.
struct Serving {
    process: Child,
    base_url: String,
    output: PathBuf,
    _folder: TempDir,
}

impl Serving {
    async fn start(endpoint: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let output = folder.path().join("output");
        let file = File::create(&output).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_tnr"))
            .args(["--port", "0", "--key", KEY, "--endpoint-url", endpoint, "--data-dir"])
            .arg(folder.path())
            .env("RUST_LOG", "debug")
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let mut serving = Self { process, base_url: String::new(), output, _folder: folder };
        serving.base_url = serving.until_ready().await;
        serving
    }

    /// Waits until the program has said where it serves.
    async fn until_ready(&self) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let text = fs::read_to_string(&self.output).unwrap();
            let base_url = text.lines().find_map(|line| line.trim().strip_prefix("base URL  "));
            if let (Some(base_url), true) = (base_url, text.contains("Ctrl-C")) {
                return base_url.to_owned();
            }
            assert!(Instant::now() < deadline, "{text}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Asks once and stops the process as soon as it has answered.
    async fn ask(&self, client: &Client, key: &ApiKey) -> StatusCode {
        let request = client.get(format!("{}/v1/npa/415?limit=1", self.base_url));
        let response = request.bearer_auth(key.reveal()).send().await.unwrap();
        send("STOP", &self.process);
        response.status()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A process that has ended by itself is no longer there to be killed.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Asks 200 times for a quota of 200, and gives what the processes wrote meanwhile.
async fn every_request_counts_once(slowness: Duration) -> String {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let quota = Some(REQUESTS as u32);
    let key = key(&store, quota, quota).await;
    // The processes load the data first: a table this slow would keep them from it.
    let is_loaded = Arc::new(AtomicBool::new(false));
    let is_slow = Arc::clone(&is_loaded);
    let policy = move |_, operation: &str| match (is_slow.load(Ordering::SeqCst), operation) {
        (false, _) => Fault::None,
        (true, "UpdateItem" | "BatchGetItem") => Fault::Late(slowness),
        (true, _) => Fault::Late(slowness.min(Duration::from_millis(30))),
    };
    let database = Database::at(service.database.endpoint().to_owned()).await.unwrap();
    let proxy = FaultProxy::before(database.endpoint(), policy).await;
    let serve = || Serving::start(&proxy.endpoint);
    let mut processes = futures_util::future::join_all((0..PROCESSES).map(|_| serve())).await;

    let client = http_client();
    for Serving { base_url, .. } in &processes {
        let loading = client.get(format!("{base_url}/v1/npa/415")).bearer_auth(KEY).send();
        assert_eq!(loading.await.unwrap().status(), StatusCode::OK);
    }
    is_loaded.store(true, Ordering::SeqCst);

    let asked = processes.iter().map(|serving| {
        let (client, key) = (&client, &key);
        async move {
            for request in 1..=REQUESTS_EACH {
                assert_eq!(serving.ask(client, key).await, StatusCode::OK, "request {request}");
                let is_long = request % LONG_FREEZE_EVERY == 0;
                tokio::time::sleep(if is_long { LONG_FREEZE.max(freeze()) } else { freeze() })
                    .await;
                send("CONT", &serving.process);
            }
        }
    });
    futures_util::future::join_all(asked).await;

    let mut output = String::new();
    for serving in &mut processes {
        send("TERM", &serving.process);
        ended(&mut serving.process).await;
        output.push_str(&fs::read_to_string(&serving.output).unwrap());
    }
    assert!(!output.contains("ERROR") && !output.contains("panic"), "{output}");
    assert_eq!(counted(&store).await[&key.hash()], REQUESTS as u64);
    output
}

#[tokio::test]
async fn requests_of_a_frozen_process_count_once_with_a_quick_table() {
    every_request_counts_once(Duration::from_millis(30)).await;
}

#[tokio::test]
async fn requests_of_a_frozen_process_count_once_with_a_slow_table() {
    let output = every_request_counts_once(Duration::from_millis(800)).await;
    assert!(output.contains("usage is written with the next write"), "no write was cut off");
}
