//! `tnr import --fetch` behind a firewall.

use std::process::Output;

use axum::response::{Html, IntoResponse};
use ingest::PUBLISHED_URLS;
use reqwest::StatusCode;
use tempfile::TempDir;

use crate::support::{
    program::{command_for, stderr},
    publishers::{REPORT_NAMES, mirror},
};

/// Runs an import from a mirror, which must fail.
async fn failed_import(mirror: String) -> String {
    let data_dir = TempDir::new().unwrap();
    let mut command = command_for(&data_dir, &["import", "--fetch", "--mirror", &mirror]);
    let run = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output: Output = run.await.unwrap();
    assert!(!output.status.success());
    stderr(&output)
}

#[tokio::test]
async fn errors_for_blocked_downloads_state_the_report_and_every_alternative() {
    let page = mirror(|_| Html("<!DOCTYPE html><h1>Access denied</h1>").into_response()).await;
    let mut blocked = vec![
        (page, "it is a web page, not a report".to_owned()),
        ("http://127.0.0.1:9".to_owned(), "the download failed: ".to_owned()),
    ];
    for code in [401, 403, 407, 451] {
        let status = StatusCode::from_u16(code).unwrap();
        let blocking = mirror(move |_| status.into_response()).await;
        blocked.push((blocking, format!("the server returned {status}")));
    }
    for (mirror, cause) in blocked {
        let output = failed_import(mirror.clone()).await;
        // A slow machine reports the stage again.
        let stage = "\nFetching the NANPA report of utilized codes\n";
        let (_, error) = output.split_at(output.find("error: ").unwrap());
        assert!(output.contains(stage), "{output}");
        let expected = format!(
            "error: the NANPA report of utilized codes cannot be fetched from {mirror}/{}: {cause}",
            REPORT_NAMES[0]
        );
        assert!(error.starts_with(&expected), "{expected}: {error}");
        assert!(error.contains("--nanpa, --cnac and\n--npa-report"), "{error}");
        assert!(error.contains("--mirror URL"), "{error}");
        let [.., nanpa, cnac, npa_report] = error.lines().collect::<Vec<_>>()[..] else {
            panic!("{error}")
        };
        assert_eq!([nanpa, cnac, npa_report], PUBLISHED_URLS);
        assert!(error.lines().skip(1).all(|line| line.len() <= 80), "{error}");
    }
}
