//! The published reports at full scale, from the `TNR_FULL_SCALE_DATA` folder. Without it, these tests say
//! that they are skipped.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use ingest::{Options, Source, Sources, ingest};
use jiff::civil::Date;
use numbering::dataset::Search;
use serde_json::json;
use tnr::operate::costs::measures::{ITEMS, SNAPSHOT_BYTES};
use zip::ZipArchive;

use self::plain_search::{PlainSearch, Texts};
use crate::operations::costs::assert_measured;
use crate::support::{
    database_calls::assert_snapshot_costs_half,
    databases,
    fault_proxy::{Fault, FaultProxy},
    lists::assert_page_sizes_agree,
    service::Service,
    small_reports::source,
};

#[path = "../../../../../shared/numbering/tests/plain_search/mod.rs"]
mod plain_search;

/// The folder of the published reports, if set.
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

/// The text of the only file in a zip archive.
fn unpacked(zip: &Path) -> String {
    let mut zip = ZipArchive::new(File::open(zip).unwrap()).unwrap();
    let mut text = Vec::new();
    zip.by_index(0).unwrap().read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
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
    for (words, total) in [("t-mobile", 14_780), ("tmobile", 14_630), ("montreal", 1_270)] {
        let found = service.ok(&format!("/v1/search?q={words}&limit=1")).await;
        assert_eq!(found["pagination"]["total"], total, "{words}");
    }
    assert_page_sizes_agree(&service, "/v1/npa/416", "exchanges").await;
    assert_page_sizes_agree(&service, "/v1/carriers", "carriers").await;
    assert_page_sizes_agree(&service, "/v1/search?q=bell&status=ASSIGNED&state=QC", "results")
        .await;

    let proxy = FaultProxy::before(service.database.endpoint(), |_, _| Fault::None).await;
    assert_snapshot_costs_half(&Service::behind(&proxy).await, &proxy, 2).await;

    let store = service.database.store();
    let snapshot = store.manifest().await.unwrap().unwrap().current;
    let bytes = store.snapshot(&snapshot).await.unwrap().len();
    assert_measured("SNAPSHOT_BYTES", SNAPSHOT_BYTES.into(), bytes as f64);
    assert_measured("ITEMS", ITEMS.into(), report.items.written as f64);
    let again = ingest(&store, &sources(&folder), Options::default(), |_| ()).await.unwrap();
    assert_eq!((again.items.written, again.items.deleted), (0, 0));
    assert_eq!(again.version, report.version);
    assert_only_changes_are_written(service, sources(&folder)).await;
}

/// Searches of all kinds, taken from the data.
#[tokio::test]
async fn searches_find_the_same_as_a_scan_at_full_scale() {
    let Some(folder) = folder() else { return };
    let dataset = ingest::dataset_of(&sources(&folder)).await.unwrap();
    let plain = PlainSearch::new(&dataset);
    let today = Date::constant(2026, 7, 1);
    let mut compared = 0;
    for (number, exchange) in dataset.exchanges().step_by(4001).enumerate() {
        let company = exchange.company_name.clone();
        let letters = |text: &Option<String>, count| -> Option<String> {
            Some(text.as_deref()?.chars().take(count).collect())
        };
        let place = exchange.rate_center.clone();
        let texts = match number % 6 {
            0 => Texts { words: company, ..Texts::default() },
            1 => Texts { company, ..Texts::default() },
            2 => Texts { rate_center: place, ..Texts::default() },
            3 => Texts { words: letters(&company, 1 + number % 4), ..Texts::default() },
            4 => Texts { words: letters(&place, 1 + number % 5), ..Texts::default() },
            _ => Texts::default(),
        };
        let search = Search {
            words: texts.words.as_deref().and_then(|text| text.parse().ok()),
            company: texts.company.as_deref().and_then(|text| text.parse().ok()),
            rate_center: texts.rate_center.as_deref().and_then(|text| text.parse().ok()),
            ocn: exchange.ocn.filter(|_| number % 6 == 5),
            nxx: (number % 7 == 0).then_some(exchange.nxx),
            state: exchange.state.filter(|_| number % 5 == 0),
            status: (number % 4 == 0).then_some(exchange.status),
            carrier_type: exchange.carrier_type.filter(|_| number % 3 == 0),
            ..Search::default()
        };
        let given = [&texts.words, &texts.company, &texts.rate_center].map(Option::is_some);
        let parsed =
            [search.words.is_some(), search.company.is_some(), search.rate_center.is_some()];
        // Texts without letters or with too many words are refused before the search.
        if parsed != given {
            continue;
        }
        let found = dataset.search(&search, today);
        let expected = plain.find(&search, &texts, today);
        assert_eq!(found.len(), expected.len(), "{search:?}");
        let page = found.clone().skip(expected.len() / 2).take(100);
        assert!(page.eq(expected.iter().skip(expected.len() / 2).take(100).copied().cloned()));
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

/// Asserts that an import of a hundred changed rows writes only those.
async fn assert_only_changes_are_written(service: Service, sources: Sources) {
    let Source::File(nanpa) = &sources.nanpa else { panic!("{:?}", sources.nanpa) };
    let text = unpacked(nanpa);
    let mut moved = 0..100;
    let changed: String = text
        .split_inclusive('\n')
        .enumerate()
        .map(|(n, line)| {
            if n % 1000 != 7 || !line.contains("\tAS ") || moved.next().is_none() {
                return line.to_owned();
            }
            let mut cells: Vec<&str> = line.split('\t').collect();
            cells[4] = "NEW PLACE";
            cells.join("\t")
        })
        .collect();
    assert_eq!(moved.next(), None, "a hundred rows are changed");
    let changed = Sources { nanpa: source(&changed), ..sources };

    let lookup = "/v1/search?rate_center=new%20place&limit=100";
    let report =
        ingest(&service.database.store(), &changed, Options::default(), |_| ()).await.unwrap();
    assert_eq!((report.items.written, report.items.deleted), (100, 0));
    let service = service.restarted().await;
    let moved = service.ok(lookup).await;
    assert_eq!(moved["pagination"]["total"], 100);
    for found in moved["results"].as_array().unwrap() {
        let path = format!("/v1/npa/{}/nxx/{}", found["npa"], found["nxx"]).replace('"', "");
        assert_eq!(service.ok(&path).await["exchanges"][0]["rate_center"], "NEW PLACE", "{path}");
    }
}
