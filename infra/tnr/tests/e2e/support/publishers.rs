//! A stand-in for the NANPA and CNAC hosts, for use with `--mirror`.

use std::{fs, path::PathBuf};

use axum::{
    Router,
    http::Uri,
    response::{IntoResponse, Response},
};
use reqwest::StatusCode;

use super::{service::serve, small_reports::ReportSet};

/// Names of the published reports, in the order of `--nanpa`, `--cnac` and `--npa-report`.
pub const REPORT_NAMES: [&str; 3] =
    ["CoCodeAssignment_Utilized_AllStates_Public.zip", "COCodeStatus_ALL.zip", "npa_report.csv"];

/// The published reports from the `TNR_FULL_SCALE_DATA` folder, or small ones without it.
pub fn published_reports() -> [Vec<u8>; 3] {
    match std::env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from) {
        Some(folder) => REPORT_NAMES.map(|name| fs::read(folder.join(name)).unwrap()),
        None => small_published_reports(),
    }
}

/// Small uncompressed reports in place of the published ones.
pub fn small_published_reports() -> [Vec<u8>; 3] {
    let ReportSet { nanpa, cnac, npa_report, .. } = ReportSet::published();
    [nanpa, cnac, npa_report].map(String::into_bytes)
}

/// The address of a server with these reports under their published names.
pub async fn mirror_of(reports: [Vec<u8>; 3]) -> String {
    mirror(move |name| {
        let index = REPORT_NAMES.iter().position(|known| *known == name);
        index.map_or(StatusCode::NOT_FOUND.into_response(), |index| {
            reports[index].clone().into_response()
        })
    })
    .await
}

/// The address of a server whose response depends on the file name.
pub async fn mirror(respond: impl Fn(&str) -> Response + Clone + Send + Sync + 'static) -> String {
    let handler = async move |uri: Uri| respond(uri.path().trim_start_matches('/'));
    serve(Router::new().fallback(handler)).await
}
