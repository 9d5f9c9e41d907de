//! `tnr import --fetch` behind a firewall.

use axum::response::{Html, IntoResponse};
use ingest::PUBLISHED_URLS;
use reqwest::StatusCode;
use tempfile::TempDir;

use crate::support::{
    program::{command_for, stderr},
    publishers::{REPORT_NAMES, mirror},
};

#[tokio::test]
async fn errors_for_blocked_downloads_state_the_report_and_every_alternative() {
    let page = mirror(|_| Html("<!DOCTYPE html><h1>Access denied</h1>").into_response()).await;
    let blocking = mirror(|_| StatusCode::FORBIDDEN.into_response()).await;
    for (mirror, cause) in [
        (page, "it is a web page, not a report"),
        ("http://127.0.0.1:9".to_owned(), "the download failed: "),
        (blocking, "the server returned 403 Forbidden"),
    ] {
        let data_dir = TempDir::new().unwrap();
        let mut command = command_for(&data_dir, &["import", "--fetch", "--mirror", &mirror]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(!output.status.success());
        let output = stderr(&output);
        let (_, error) = output.split_at(output.find("error: ").unwrap());
        let expected = format!(
            "error: the NANPA report of utilized codes cannot be fetched from {mirror}/{}: {cause}",
            REPORT_NAMES[0]
        );
        assert!(error.starts_with(&expected), "{expected}: {error}");
        assert!(error.contains("--nanpa, --cnac and\n--npa-report"), "{error}");
        assert!(error.contains("--mirror URL"), "{error}");
        assert!(error.trim_end().ends_with(&PUBLISHED_URLS.join("\n")), "{error}");
    }
}
