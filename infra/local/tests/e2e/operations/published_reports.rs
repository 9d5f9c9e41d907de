//! `import` of the published reports as an operator types it: over the sample, and behind a firewall.

use std::{fs, process::Output};

use axum::response::{Html, IntoResponse};
use ingest::PUBLISHED_ADDRESSES;
use reqwest::StatusCode;
use tempfile::TempDir;

use crate::support::{
    databases::sample_folder,
    program::{program_on, run, stderr, stdout},
    publishers::{REPORT_NAMES, mirror, small_published_reports},
};

#[test]
fn the_three_published_files_replace_the_sample() {
    let data_dir = sample_folder();
    let files = REPORT_NAMES.map(|name| data_dir.path().join(name));
    for (file, report) in files.iter().zip(small_published_reports()) {
        fs::write(file, report).unwrap();
    }
    let [nanpa, cnac, npa_report] = files.each_ref().map(|file| file.to_str().unwrap());
    let import = ["import", "--nanpa", nanpa, "--cnac", cnac, "--npa-report", npa_report];
    let imported = run(&data_dir, &import);
    let report = stdout(&imported);
    let note = "First import: it replaces the made-up sample and is compared with nothing\n";
    assert!(report.contains(note), "{report}");
    assert_eq!(stderr(&imported), "", "no progress without a terminal");

    assert!(!stdout(&run(&data_dir, &import)).contains(note), "only once");
}

/// Runs an import from a mirror, which must fail.
async fn failed_import(mirror: String) -> String {
    let data_dir = TempDir::new().unwrap();
    let mut command = program_on(&data_dir, &["import", "--fetch", "--mirror", &mirror]);
    let run = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output: Output = run.await.unwrap();
    assert!(!output.status.success());
    stderr(&output)
}

#[tokio::test]
async fn blocked_downloads_name_the_report_and_every_alternative() {
    let page = mirror(|_| Html("<!DOCTYPE html><h1>Access denied</h1>").into_response()).await;
    let mut blocked = vec![
        (page, "it is a web page, not a report".to_owned()),
        ("http://127.0.0.1:9".to_owned(), "the download failed: ".to_owned()),
    ];
    for code in [401, 403, 407, 451] {
        let status = StatusCode::from_u16(code).unwrap();
        let refusing = mirror(move |_| status.into_response()).await;
        blocked.push((refusing, format!("the server answers {status}")));
    }
    for (mirror, cause) in blocked {
        let error = failed_import(mirror.clone()).await;
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
        assert_eq!([nanpa, cnac, npa_report], PUBLISHED_ADDRESSES);
        assert!(error.lines().skip(1).all(|line| line.len() <= 80), "{error}");
    }
}
