//! The program itself, as it is typed.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use axum::{Router, routing::get};
use serde_json::Value;
use store::Tables;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::service::{KEY, http_client};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tnr");

fn tnr(data_dir: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).arg("--data-dir").arg(data_dir.path()).env_remove("TNR_KEY");
    command
}

fn run(data_dir: &TempDir, arguments: &[&str]) -> Output {
    tnr(data_dir, arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A running `serve`, ended with the test.
struct Serving {
    process: Child,
    base_url: String,
    key: String,
}

impl Serving {
    fn start(data_dir: &TempDir, arguments: &[&str]) -> Self {
        Self::of(&mut tnr(data_dir, &[arguments, &["--port", "0"]].concat()))
    }

    fn of(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (mut base_url, mut key) = (String::new(), String::new());
        for line in lines.map(Result::unwrap) {
            match line.trim().split_once("  ").map(|(name, value)| (name, value.trim())) {
                Some(("base URL", value)) => base_url = value.to_owned(),
                Some(("API key", value)) => key = value.to_owned(),
                _ if line.starts_with("Ctrl-C") => break,
                _ => (),
            }
        }
        Self { process, base_url, key }
    }

    async fn get(&self, path: &str) -> Value {
        let request = http_client().get(format!("{}{path}", self.base_url)).bearer_auth(&self.key);
        request.send().await.unwrap().json().await.unwrap()
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Ctrl-C; gives whether the program ended by itself and well.
    async fn interrupt(mut self) -> bool {
        let pid = self.process.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        self.ended().await
    }

    async fn ended(&mut self) -> bool {
        for _ in 0..100 {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.success();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        false
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        _ = self.process.kill();
    }
}

#[tokio::test]
async fn serve_starts_on_the_sample_and_survives_being_killed() {
    let data_dir = TempDir::new().unwrap();
    let first = Serving::start(&data_dir, &[]);
    let stats = first.get("/v1/stats").await;
    assert_eq!(stats["total_records"], 3484);
    assert_eq!(first.get("/v1/npa/415?limit=1").await["npa"], "415");
    let key = first.key.clone();
    first.kill();

    let second = Serving::start(&data_dir, &["serve"]);
    assert_eq!(second.key, key);
    assert_eq!(second.get("/v1/stats").await, stats);
    assert_eq!(second.get("/v1/npa/415?limit=1").await["npa"], "415");
    assert!(second.interrupt().await, "Ctrl-C ends it cleanly");
}

#[tokio::test]
async fn an_unfinished_request_does_not_keep_ctrl_c_waiting() {
    let data_dir = TempDir::new().unwrap();
    let serving = Serving::start(&data_dir, &[]);
    let address = serving.base_url.strip_prefix("http://").unwrap();
    let mut unfinished = std::net::TcpStream::connect(address).unwrap();
    unfinished.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n").unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(serving.interrupt().await);
}

#[tokio::test]
async fn a_second_server_on_one_folder_is_refused() {
    let data_dir = TempDir::new().unwrap();
    let serving = Serving::start(&data_dir, &[]);
    let refused = run(&data_dir, &["--port", "0"]);
    assert!(!refused.status.success());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        error.contains("is served by another process; stop that process, or use its DynamoDB"),
        "{error}"
    );
    assert_eq!(serving.get("/v1/npa/415?limit=1").await["npa"], "415");
}

#[tokio::test]
async fn a_revoked_key_of_its_own_is_replaced_and_a_given_one_refused() {
    let data_dir = TempDir::new().unwrap();
    let serving = Serving::start(&data_dir, &["--key", KEY]);
    stdout(&run(&data_dir, &["keys", "revoke", KEY]));
    serving.kill();
    let refused = run(&data_dir, &["--key", KEY, "--port", "0"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("has been revoked") && !error.contains(KEY), "{error}");

    let serving = Serving::start(&data_dir, &[]);
    let own = serving.key.clone();
    stdout(&run(&data_dir, &["keys", "revoke", &own]));
    serving.kill();
    let serving = Serving::start(&data_dir, &[]);
    assert_ne!(serving.key, own);
    assert_eq!(serving.get("/v1/npa/415?limit=1").await["npa"], "415");
}

#[tokio::test]
async fn a_given_key_is_registered_and_a_malformed_one_refused() {
    let data_dir = TempDir::new().unwrap();
    let serving = Serving::start(&data_dir, &["--key", KEY]);
    assert_eq!(serving.key, KEY);
    assert_eq!(serving.get("/v1/npa/415?limit=1").await["npa"], "415");
    serving.kill();
    let refused = run(&data_dir, &["--key", "secret", "--port", "0"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not an API key"));
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked_while_the_service_runs() {
    let data_dir = TempDir::new().unwrap();
    let serving = Serving::start(&data_dir, &[]);
    let key = stdout(&run(&data_dir, &["keys", "create", "--name", "a client"]));
    let key = key.trim();
    let request =
        || http_client().get(format!("{}/v1/carriers", serving.base_url)).bearer_auth(key);
    assert_eq!(request().send().await.unwrap().status(), 200);

    let listed = stdout(&run(&data_dir, &["keys", "list"]));
    let of_key = listed.lines().find(|line| line.ends_with("a client")).unwrap();
    assert!(of_key.contains(" live ") && !listed.contains(key), "{listed}");
    let prefix = of_key.split_whitespace().next().unwrap();

    let ambiguous = run(&data_dir, &["keys", "revoke", "tnr_live_"]);
    assert!(
        String::from_utf8_lossy(&ambiguous.stderr).contains("2 API keys begin with 'tnr_live_'")
    );
    stdout(&run(&data_dir, &["keys", "revoke", prefix]));
    assert!(stdout(&run(&data_dir, &["keys", "list"])).contains(" revoked "));
    serving.kill();

    let restarted = Serving::start(&data_dir, &[]);
    let request = http_client().get(format!("{}/v1/carriers", restarted.base_url)).bearer_auth(key);
    assert_eq!(request.send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn import_reports_what_it_loaded_and_every_warning() {
    let data_dir = TempDir::new().unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample");
    let files =
        ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv", "npa_report.csv", "carriers.csv"];
    let [nanpa, cnac, npa_report, carriers] = files.map(|file| format!("{sample}/{file}"));
    let output = run(
        &data_dir,
        &[
            "import",
            "--nanpa",
            &nanpa,
            "--cnac",
            &cnac,
            "--npa-report",
            &npa_report,
            "--carriers",
            &carriers,
        ],
    );
    let report = stdout(&output);
    for line in [
        "records                3,484",
        "US                   2,797",
        "carriers                 165",
        "Warnings: 1",
        "1  an unassigned code names a holder, who is left out: 873-436 names OCN",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    let arguments = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
    let without_carriers = run(&data_dir, &[&arguments[..], &["--json"]].concat());
    assert!(!without_carriers.status.success());
    let report: Value = serde_json::from_slice(&without_carriers.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["items"]["written"]), (&"refused".into(), &0.into()));
    assert!(
        report["reason"].as_str().unwrap().contains("check whether a file is cut off or left out")
    );
    let missing = ["import", "--nanpa", "none", "--cnac", &cnac, "--npa-report", &npa_report];
    let failed = run(&data_dir, &[&missing[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(report["outcome"], "failed");
    assert!(report["reason"].as_str().unwrap().starts_with("none cannot be read"), "{report}");

    let refused =
        run(&data_dir, &["import", "--nanpa", &cnac, "--cnac", &cnac, "--npa-report", &npa_report]);
    assert!(!refused.status.success());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        error.contains(
            "cnac_co_code_status.csv cannot be imported: \
             the NANPA report of utilized codes does not look like the expected report: \
             no header row contains the column(s)"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_object_in_s3_is_a_source() {
    let bucket = Router::new().route(
        "/data/reports/npa_report.csv",
        get(async || include_str!("../../sample/npa_report.csv")),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, bucket).await.unwrap() });

    let data_dir = TempDir::new().unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample");
    let import = async |npa_report: &str| {
        let mut command = tnr(&data_dir, &["import", "--npa-report", npa_report]);
        command.args(["--nanpa", &format!("{sample}/nanpa_utilized_codes.txt")]);
        command.args(["--cnac", &format!("{sample}/cnac_co_code_status.csv")]);
        command.envs([
            ("AWS_ENDPOINT_URL_S3", endpoint.as_str()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    };
    let report = stdout(&import("s3://data/reports/npa_report.csv").await);
    assert!(report.contains("area codes               439"), "{report}");
    assert!(report.contains("with exchanges         430"), "{report}");
    let missing = import("s3://data/none.csv").await;
    let error = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(error.contains("error: s3://data/none.csv cannot be read: "), "{error}");
}

#[tokio::test]
async fn a_deployed_stack_is_found_by_its_name() {
    let data_dir = TempDir::new().unwrap();
    let tables = Tables::of_stack("numbers");
    let serving = Serving::of(tnr(&data_dir, &["--port", "0"]).envs([
        ("CARRIERS_TABLE", &tables.carriers),
        ("EXCHANGES_TABLE", &tables.exchanges),
        ("DATASET_TABLE", &tables.dataset),
        ("API_KEYS_TABLE", &tables.api_keys),
        ("USAGE_TABLE", &tables.usage),
    ]));
    let dynamodb = std::fs::read_to_string(data_dir.path().join("endpoint")).unwrap();
    let keys = async |arguments: &[&str], stack: &str| {
        let mut command = Command::new(PROGRAM);
        command.arg("keys").args(arguments).args(["--stack", stack]).envs([
            ("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.as_str()),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ]);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    };
    let created = keys(&["create", "--name", "a client", "--per-minute", "5"], "numbers").await;
    let key = stdout(&created);
    let request = http_client().get(format!("{}/v1/npa/415", serving.base_url));
    let response = request.bearer_auth(key.trim()).send().await.unwrap();
    assert_eq!(response.headers()["x-ratelimit-minute-limit"], "5");

    let other = keys(&["list"], "letters").await;
    let error = String::from_utf8_lossy(&other.stderr).into_owned();
    let expected = "error: stack 'letters' is not a deployment of this service in region \
                    'us-east-1'; give the name that 'sam deploy' was given";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_taken_port_is_a_clear_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = run(&TempDir::new().unwrap(), &["--port", &port]);
    assert!(!refused.status.success());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        error.contains(&format!("cannot listen on port {port}; choose another with --port")),
        "{error}"
    );
}

#[test]
fn an_unreachable_database_is_a_clear_error() {
    let refused =
        run(&TempDir::new().unwrap(), &["--port", "0", "--endpoint-url", "http://127.0.0.1:9"]);
    assert!(!refused.status.success());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        error.contains("the database does not answer") && !error.contains("panicked"),
        "{error}"
    );
}
