//! `import` as an operator types it.

use axum::{Router, routing::get};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::support::program::{program_on, run, sample_file, stderr, stdout};

#[tokio::test]
async fn import_prints_its_sources_and_every_warning() {
    let data_dir = TempDir::new().unwrap();
    let [nanpa, cnac, npa_report, carriers] =
        ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv", "npa_report.csv", "carriers.csv"]
            .map(sample_file);
    let arguments = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
    let report = stdout(&run(&data_dir, &[&arguments[..], &["--carriers", &carriers]].concat()));
    for line in [
        "records                3,484",
        "US                   2,797",
        "carriers                 165",
        "Warnings: 1",
        "1  an unassigned code names a holder, who is left out: 873-436 names OCN",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
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
}

#[tokio::test]
async fn reports_can_be_s3_objects() {
    let bucket = Router::new().route(
        "/data/reports/npa_report.csv",
        get(async || include_str!("../../../sample/npa_report.csv")),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, bucket).await.unwrap() });

    let data_dir = TempDir::new().unwrap();
    let [nanpa, cnac] = ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv"].map(sample_file);
    let import = async |npa_report: &str| {
        let arguments = ["import", "--npa-report", npa_report, "--nanpa", &nanpa, "--cnac", &cnac];
        let mut command = program_on(&data_dir, &arguments);
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
    let error = stderr(&missing);
    assert!(error.contains("error: s3://data/none.csv cannot be read: "), "{error}");
}
