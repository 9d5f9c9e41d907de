//! `tnr import`.

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{run, sample_file, stdout};

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
        "1  an unassigned code names a holder, which is ignored: 873-436 names OCN",
    ] {
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
