//! Tests the start of the README: its commands work, and its responses are accurate.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Output},
};

use axum::{Router, http::Uri};
use reqwest::StatusCode;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    listening::serve,
    program::{Server, program, stderr, stdout},
    small_reports::ReportSet,
};

const README: &str = include_str!("../../../../../README.md");

/// The language and code of each block in the first two sections, from cloning to real data, in order.
fn first_blocks() -> Vec<(&'static str, &'static str)> {
    let (_, from_title) = README.split_once("# ").unwrap();
    let sections = from_title.splitn(3, "\n## ").take(2);
    let parts = sections.flat_map(|section| section.split("```").skip(1).step_by(2));
    parts.map(|part| part.split_once('\n').unwrap()).collect()
}

/// Names of the published reports, in the order of `--nanpa`, `--cnac` and `--npa-report`.
const REPORT_NAMES: [&str; 3] =
    ["CoCodeAssignment_Utilized_AllStates_Public.zip", "COCodeStatus_ALL.zip", "npa_report.csv"];

/// The address of a server with the published reports in the `TNR_FULL_SCALE_DATA` folder, or with small ones.
async fn mirror() -> String {
    let reports = match env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from) {
        Some(folder) => REPORT_NAMES.map(|name| fs::read(folder.join(name)).unwrap()),
        None => {
            let ReportSet { nanpa, cnac, npa_report, .. } = ReportSet::published();
            [nanpa, cnac, npa_report].map(String::into_bytes)
        }
    };
    let handler = async move |uri: Uri| {
        let name = uri.path().trim_start_matches('/');
        let index = REPORT_NAMES.iter().position(|known| *known == name);
        index.map(|index| reports[index].clone()).ok_or(StatusCode::NOT_FOUND)
    };
    serve(Router::new().fallback(handler)).await
}

/// A stand-in for `cargo` that runs the built program, and skips the tests, because this is one of them.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  run) exec "$TNR" ;;
  "run -- "*) shift 2; exec "$TNR" "$@" ;;
  "test --workspace") ;;
  *) echo "the README test does not support: cargo $*" >&2; exit 1 ;;
esac
"#;

/// A folder that the blocks use as a clone.
struct Clone {
    folder: TempDir,
    mirror: String,
}

impl Clone {
    fn new(mirror: String) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let cargo = folder.path().join("cargo");
        fs::write(&cargo, CARGO).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder, mirror }
    }

    /// A shell for running `code`.
    fn shell(&self, code: &str) -> Command {
        let search_path = format!("{}:{}", self.folder.path().display(), env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-ec", code]).current_dir(self.folder.path()).env("PATH", search_path);
        shell.env("TNR", program(&[]).get_program()).env("CARGO", "cargo");
        shell.envs([("TNR_DATA_DIR", ".local"), ("TNR_PORT", "0"), ("TNR_MIRROR", &self.mirror)]);
        shell.env_remove("TNR_KEY").env_remove("TNR_ENDPOINT_URL");
        shell
    }

    async fn run(&self, code: &str) -> Output {
        let mut shell = self.shell(code);
        let output = tokio::task::spawn_blocking(move || shell.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{code}: {}", stderr(&output));
        output
    }
}

/// The code blocks run unchanged. Only the publishers' hosts, the port and `cargo` are replaced.
#[cfg(unix)]
#[tokio::test]
async fn readme_commands_work() {
    let clone = Clone::new(mirror().await);
    let mut server = None;
    let mut responses = Vec::new();
    for (language, code) in first_blocks() {
        match language {
            "sh" if code == "cargo run\n" => {
                server = Some(Server::start(&mut clone.shell("exec cargo run")).await);
            }
            "sh" => {
                let base_url = server.as_ref().map_or("", |server: &Server| &server.base_url);
                responses.push(clone.run(&code.replace("http://127.0.0.1:3000", base_url)).await);
            }
            "json" => {
                let response = responses.last().map(stdout).unwrap();
                let mut response: Value = serde_json::from_str(&response).unwrap();
                // The README says that flags are left out.
                assert!(response.as_object_mut().unwrap().shift_remove("flags").is_some());
                let shown: Value = serde_json::from_str(code).unwrap();
                assert_eq!(shown.to_string(), response.to_string(), "the field order also matches");
            }
            other => panic!("a '{other}' block is neither run nor compared"),
        }
    }
    let [_curl, import, lookup, _test] = &responses[..] else {
        panic!("{} blocks", responses.len())
    };
    assert!(stdout(import).contains(", instead of the made-up sample: "), "{}", stdout(import));
    assert_eq!(stderr(lookup), "", "no note: the data is real");
    let response = stdout(lookup);
    assert!(
        response.contains("exchange       305-234") && !response.contains("SAMPLE"),
        "{response}"
    );
}
