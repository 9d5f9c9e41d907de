//! Tests the published reports at full scale, from the `TNR_FULL_SCALE_DATA` folder. Skipped if it is unset.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use ingest::{Options, ReportName, Source, Sources, ingest};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    api::lists::assert_page_sizes_agree,
    operations::{
        costs::assert_measured,
        database_cost::{assert_snapshot_costs_half, calls_for, units, warm_service},
    },
    support::{
        databases, fault_proxy::FaultProxy, imports::without_gates, service::Service,
        small_reports::source,
    },
};

/// The folder with the published reports, if it is set.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("TNR_FULL_SCALE_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: TNR_FULL_SCALE_DATA is not set");
    }
    folder
}

fn sources(folder: &Path) -> Sources {
    let file = |name: &str| Source::File(folder.join(name));
    Sources::from_iter([
        (ReportName::Nanpa, file("CoCodeAssignment_Utilized_AllStates_Public.zip")),
        (ReportName::Cnac, file("COCodeStatus_ALL.zip")),
        (ReportName::NpaReport, file("npa_report.csv")),
    ])
}

/// NANPA's report with 450 exchanges moved to other holders, which also changes the holders' carriers.
fn nanpa_with_moved_exchanges(folder: &Path) -> Source {
    let file = File::open(folder.join("CoCodeAssignment_Utilized_AllStates_Public.zip")).unwrap();
    let mut zip = zip::ZipArchive::new(file).unwrap();
    let mut report = Vec::new();
    zip.by_index(0).unwrap().read_to_end(&mut report).unwrap();
    let report = String::from_utf8_lossy(&report);
    let mut lines: Vec<Vec<&str>> = report.lines().map(|line| line.split('\t').collect()).collect();
    let assigned = (1..lines.len()).filter(|&line| lines[line][6].trim() == "AS").step_by(400);
    let moved: Vec<usize> = assigned.take(450).collect();
    let mut holder = [lines[moved[449]][2], lines[moved[449]][3]];
    for line in moved {
        let line = &mut lines[line];
        (holder, line[2], line[3]) = ([line[2], line[3]], holder[0], holder[1]);
    }
    source(&lines.iter().map(|line| line.join("\t")).collect::<Vec<_>>().join("\r\n"))
}

/// Regression test: such a page used to read all changes to the area code's exchanges and their holders.
#[tokio::test]
async fn small_page_of_past_data_is_cheap_after_500_changes() {
    let Some(folder) = folder() else { return };
    let (database, _) = databases::with_published_reports(sources(&folder)).await;
    let store = database.store();
    let before = store.manifest().await.unwrap().unwrap().publication.at;
    let nanpa = nanpa_with_moved_exchanges(&folder);
    let reports = sources(&folder).with(ReportName::Nanpa, nanpa);
    let report = ingest(&store, &reports, without_gates(), |_| ()).await.unwrap();
    assert!((400..700).contains(&report.changes.total()), "{}", report.changes.total());

    let proxy = FaultProxy::transparent(database.endpoint()).await;
    for npa in ["415", "712"] {
        let service = warm_service(&proxy).await;
        let target = format!("/v1/npa/{npa}?as_of={before}&limit=2");
        let calls = calls_for(&service, &proxy, &target).await;
        assert!(calls.len() <= 8 && units(&calls) <= 12.0, "{npa}: {calls:?}");
        println!("{npa}: {} calls, {} units", calls.len(), units(&calls));
        let all = format!("/v1/area-codes/{npa}?as_of={before}");
        let calls = calls_for(&service, &proxy, &all).await;
        println!("all of {npa}: {} calls, {} units", calls.len(), units(&calls));
    }
    let manifest = store.manifest().await.unwrap().unwrap();
    let history = store.history(&manifest, Timestamp::now()).await.unwrap();
    let difference = &history.differences_after(0)[0];
    assert_measured("difference_bytes", difference.bytes.into());
}

#[tokio::test]
async fn every_record_of_the_published_reports_is_served() {
    let Some(folder) = folder() else { return };
    let (database, report) = databases::with_published_reports(sources(&folder)).await;
    let service = Service::on(database).await;
    assert_eq!(report.warnings.len(), 2, "{:?}", report.warnings);

    let stats = service.ok("/v1/stats").await;
    assert_eq!(stats["total_records"], 246_468);
    assert_eq!(stats["by_country"], json!({ "US": 202_468, "CA": 44_000 }));
    assert_eq!(
        stats["by_status"],
        json!({ "ASSIGNED": 226_356, "UNASSIGNED": 14_683, "RESERVED": 5_429 })
    );
    for (words, total) in [("t-mobile", 20_960), ("tmobile", 20_718), ("montreal", 1_270)] {
        let found = service.ok(&format!("/v1/search?q={words}&limit=1")).await;
        assert_eq!(found["pagination"]["total"], total, "{words}");
    }
    for (path, field) in [
        ("/v1/npa/416", "exchanges"),
        ("/v1/carriers", "carriers"),
        ("/v1/search?q=bell&status=ASSIGNED&state=QC", "results"),
    ] {
        assert_page_sizes_agree(&service, &[49], path, field).await;
    }

    let proxy = FaultProxy::transparent(service.database.endpoint()).await;
    assert_snapshot_costs_half(&proxy, 2).await;

    let store = service.database.store();
    let snapshot = store.manifest().await.unwrap().unwrap().current;
    let bytes = store.snapshot(&snapshot).await.unwrap().len();
    assert_measured("snapshot_bytes", bytes as f64);
    assert_measured("items", report.items.written as f64);
    let again = ingest(&store, &sources(&folder), Options::default(), |_| ()).await.unwrap();
    assert_eq!((again.items.written, again.items.deleted), (0, 0));
    assert_eq!(again.version, report.version);
}
