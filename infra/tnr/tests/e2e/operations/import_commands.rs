//! `tnr import`.

use std::{fs, process::Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{run, sample_file, stderr, stdout};

/// Imports the sample's files with other options, which may replace a file.
fn import(data_dir: &TempDir, npa_report: &str, options: &[&str]) -> Output {
    let [nanpa, cnac] = ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv"].map(sample_file);
    let reports = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", npa_report];
    run(data_dir, &[&reports, options].concat())
}

#[test]
fn import_prints_its_stages_and_one_summary_line() {
    let data_dir = TempDir::new().unwrap();
    let [npa_report, carriers] = ["npa_report.csv", "carriers.csv"].map(sample_file);
    let imported = import(&data_dir, &npa_report, &["--carriers", &carriers]);
    let stages = stderr(&imported);
    // On a busy machine, the time left is also printed.
    let is_timed = |line: &&str| line.contains(": ") && !line.starts_with("warning: ");
    let stages: Vec<&str> = stages.lines().filter(|line| !is_timed(line)).collect();
    insta::assert_snapshot!(stages.join("\n"));
    let report = stdout(&imported);
    let (summary, next) = report.split_once('\n').unwrap();
    let counts = "is current: 3,484 exchanges, 165 carriers, ";
    assert!(summary.starts_with("Version ") && summary.contains(counts), "{summary}");
    assert!(summary.ends_with(", 1 warning; --verbose lists them"), "{summary}");
    assert!(next.starts_with("Next: tnr lookup +13052345678"), "{next}");
    let without_carriers = import(&data_dir, &npa_report, &["--json"]);
    assert!(!without_carriers.status.success());
    let report: Value = serde_json::from_slice(&without_carriers.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["items"]["written"]), (&"refused".into(), &0.into()));
    let reason = report["reason"].as_str().unwrap();
    assert!(reason.contains("check whether a file is truncated or missing"), "{reason}");
    let failed = import(&data_dir, "none", &["--json"]);
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(report["outcome"], "failed");
    assert!(report["reason"].as_str().unwrap().starts_with("none cannot be read"), "{report}");
}

#[test]
fn strict_imports_refuse_an_unknown_column_that_others_ignore() {
    let data_dir = TempDir::new().unwrap();
    let [npa_report, carriers] = ["npa_report.csv", "carriers.csv"].map(sample_file);
    let content = fs::read_to_string(&npa_report).unwrap();
    // The first line is the file's date.
    let lines = content.lines().enumerate().map(|(number, line)| match number {
        0 => format!("{line}\n"),
        1 => format!("{line},PORTING\n"),
        _ => format!("{line},\n"),
    });
    let changed = data_dir.path().join("changed.csv");
    fs::write(&changed, lines.collect::<String>()).unwrap();
    let changed = changed.to_str().unwrap();
    let dry_run = ["--dry-run", "--carriers", &carriers];
    let strict = [&dry_run[..], &["--strict"]].concat();
    assert!(import(&data_dir, &npa_report, &strict).status.success());
    assert!(import(&data_dir, changed, &dry_run).status.success());
    let refused = import(&data_dir, changed, &strict);
    assert!(!refused.status.success());
    let reason = "the NANPA area code database: unknown columns (1): 'PORTING'";
    assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
}
