//! The published reports at full scale, where `TNR_FULL_SCALE_DATA` names a folder that holds
//! them; without it these tests have nothing to read and say so.

use std::path::{Path, PathBuf};

use ingest::{Options, Source, Sources, ingest};
use serde_json::json;

use crate::{pagination::assert_walks_agree, service::Service};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: TNR_FULL_SCALE_DATA is not set");
    }
    folder
}

fn sources(folder: &Path) -> Sources {
    let file = |name: &str| Source::File(folder.join(name));
    Sources {
        nanpa: file("CoCodeAssignment_Utilized_AllStates_Public.zip"),
        cnac: file("COCodeStatus_ALL.zip"),
        npa_report: file("npa_report.csv"),
        carriers: Some(file("carriers.csv")),
        thousands_blocks: None,
    }
}

#[tokio::test]
async fn the_published_reports_are_served_whole() {
    let Some(folder) = folder() else { return };
    let service = Service::empty().await;
    let report = ingest(&service.database.store(), &sources(&folder), Options::default(), |_| ())
        .await
        .unwrap();
    assert_eq!(report.warnings.len(), 2, "{:?}", report.warnings);

    let stats = service.ok("/v1/stats").await;
    assert_eq!(stats["total_records"], 246_468);
    assert_eq!(stats["by_country"], json!({ "US": 202_468, "CA": 44_000 }));
    assert_eq!(
        stats["by_status"],
        json!({ "ASSIGNED": 226_356, "UNASSIGNED": 14_683, "RESERVED": 5_429 })
    );
    assert_walks_agree(&service, "/v1/npa/416", "exchanges").await;
    assert_walks_agree(&service, "/v1/carriers", "carriers").await;
    assert_walks_agree(&service, "/v1/search?q=bell&status=ASSIGNED&state=QC", "results").await;

    let again =
        ingest(&service.database.store(), &sources(&folder), Options::default(), |_| ()).await;
    let again = again.unwrap();
    assert_eq!((again.items.written, again.items.deleted), (0, 0));
    assert_eq!(again.version, report.version);
}
