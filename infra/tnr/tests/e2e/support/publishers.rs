//! A stand-in for the NANPA and CNAC hosts, for use with `--mirror`.

use std::{fs, path::PathBuf};

use axum::{Router, http::Uri};
use reqwest::StatusCode;

use super::{service::serve, small_reports::ReportSet};

/// Names of the published reports, in the order of `--nanpa`, `--cnac` and `--npa-report`.
const REPORT_NAMES: [&str; 3] =
    ["CoCodeAssignment_Utilized_AllStates_Public.zip", "COCodeStatus_ALL.zip", "npa_report.csv"];

/// The published reports from the `TNR_FULL_SCALE_DATA` folder, or small ones without it.
pub fn published_reports() -> [Vec<u8>; 3] {
    match std::env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from) {
        Some(folder) => REPORT_NAMES.map(|name| fs::read(folder.join(name)).unwrap()),
        None => small_published_reports(),
    }
}

/// Small uncompressed reports in place of the published ones.
fn small_published_reports() -> [Vec<u8>; 3] {
    let ReportSet { nanpa, cnac, npa_report, .. } = ReportSet::published();
    [nanpa, cnac, npa_report].map(String::into_bytes)
}

/// The address of a server with these reports under their published names.
pub async fn mirror_of(reports: [Vec<u8>; 3]) -> String {
    let handler = async move |uri: Uri| {
        let name = uri.path().trim_start_matches('/');
        let index = REPORT_NAMES.iter().position(|known| *known == name);
        index.map(|index| reports[index].clone()).ok_or(StatusCode::NOT_FOUND)
    };
    serve(Router::new().fallback(handler)).await
}
