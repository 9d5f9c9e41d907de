//! `tnr import`.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{run, sample_file, stderr, stdout};

#[tokio::test]
async fn import_prints_its_stages_and_one_summary_line() {
    let data_dir = TempDir::new().unwrap();
    let [nanpa, cnac, npa_report, carriers] =
        ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv", "npa_report.csv", "carriers.csv"]
            .map(sample_file);
    let arguments = ["import", "--nanpa", &nanpa, "--cnac", &cnac, "--npa-report", &npa_report];
    let with_carriers = [&arguments[..], &["--carriers", &carriers]].concat();
    let imported = run(&data_dir, &with_carriers);
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
    let report = stdout(&run(&data_dir, &[&with_carriers[..], &["--verbose"]].concat()));
    let warning = "1  an unassigned code names a holder, which is ignored: 873-436 names OCN";
    for line in ["  records                3,484\n", "Quality for US", warning] {
        assert!(report.contains(line), "{line}: {report}");
    }
    let without_carriers = run(&data_dir, &[&arguments[..], &["--json"]].concat());
    assert!(!without_carriers.status.success());
    let report: Value = serde_json::from_slice(&without_carriers.stdout).unwrap();
    assert_eq!((&report["outcome"], &report["items"]["written"]), (&"refused".into(), &0.into()));
    assert!(
        report["reason"].as_str().unwrap().contains("check whether a file is truncated or missing")
    );
    let missing = ["import", "--nanpa", "none", "--cnac", &cnac, "--npa-report", &npa_report];
    let failed = run(&data_dir, &[&missing[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(report["outcome"], "failed");
    assert!(report["reason"].as_str().unwrap().starts_with("none cannot be read"), "{report}");
}

#[test]
fn strict_imports_refuse_an_unknown_column_that_others_ignore() {
    let data_dir = TempDir::new().unwrap();
    let [nanpa, cnac, npa_report, carriers] =
        ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv", "npa_report.csv", "carriers.csv"]
            .map(sample_file);
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
    let dry_run = |npa_report, option: &[&str]| {
        let arguments = ["import", "--dry-run", "--nanpa", &nanpa, "--cnac", &cnac];
        let reports = ["--npa-report", npa_report, "--carriers", &carriers];
        run(&data_dir, &[&arguments[..], &reports, option].concat())
    };
    for (npa_report, option) in [(&*npa_report, &["--strict"][..]), (changed, &[])] {
        assert!(dry_run(npa_report, option).status.success(), "{npa_report} {option:?}");
    }
    let refused = dry_run(changed, &["--strict"]);
    assert!(!refused.status.success());
    let reason = "the NANPA area code database: unknown columns (1): 'PORTING'";
    assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
}
