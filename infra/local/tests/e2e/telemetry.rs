//! What a Lambda tells of its requests, tried on the program with a Lambda's environment.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::service::{KEY, http_client, shared_service};

#[tokio::test]
async fn every_answer_has_an_id_of_its_own() {
    let service = shared_service();
    let mut ids = std::collections::BTreeSet::new();
    for path in ["/health", "/v1/npa/415", "/v1/npa/41", "/v1/invalid", "/v1/carrier/9999"] {
        let id = service.get(path).await.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert!(ids.insert(id), "{path}");
    }
    let refused = service.request("/v1/carriers").send().await.unwrap();
    assert!(refused.headers().contains_key("x-request-id"));
}

#[tokio::test]
async fn a_lambda_tells_one_line_a_request_without_key_and_whole_number() {
    let data_dir = TempDir::new().unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_tnr"))
        .args(["--port", "0", "--key", KEY, "--data-dir"])
        .arg(data_dir.path())
        .env("AWS_LAMBDA_FUNCTION_NAME", "stack-format")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let base_url = lines.find_map(|line| Some(line.trim().strip_prefix("base URL  ")?.to_owned()));
    let base_url = base_url.unwrap();
    lines.find(|line| line.starts_with("Ctrl-C")).unwrap();

    let paths = [
        format!("/v1/format/+13052345678?apiKey={KEY}"),
        format!("/v1/format?tn=%28305%29%20234-5678&apiKey={KEY}"),
        format!("/v1/npa/415?apiKey={KEY}&apiKey={KEY}x"),
        "/v1/nowhere".to_owned(),
    ];
    let mut told = Vec::new();
    for path in &paths {
        let response = http_client().get(format!("{base_url}{path}")).send().await.unwrap();
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let line = lines.next().unwrap();
        for secret in [KEY, "5678", "234-5678"] {
            assert!(!line.contains(secret), "{line}");
        }
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["request_id"], id);
        told.push(line);
    }
    process.kill().unwrap();
    process.wait().unwrap();

    let column =
        |name: &str| -> Vec<Value> { told.iter().map(|line| line[name].clone()).collect() };
    assert_eq!(column("route"), ["/v1/format/{*tn}", "/v1/format", "/v1/npa/{npa}", "$default"]);
    assert_eq!(column("status"), [200, 200, 400, 404]);
    assert_eq!(column("cold_start"), [true, false, false, false]);
    assert_eq!(told[0]["tn"], "+1305234****");
    assert_eq!(told[1]["tn"], "+1305234****");
    assert_eq!(told[0]["key"], &KEY[..15]);
    assert!(told[0]["data_version"].as_str().unwrap().contains("T"));
    // the first lookup reads key, manifest and exchange; the second has all in memory
    assert_eq!((&told[0]["CacheMisses"], &told[1]["CacheHits"]), (&1.0.into(), &1.0.into()));
    assert!(told[0]["ConsumedCapacity"].as_f64().unwrap() >= 1.5, "{}", told[0]);
    assert_eq!(told[1]["ConsumedCapacity"], 0.0);
    assert_eq!(told[3]["ClientErrors"], 1.0);
}
