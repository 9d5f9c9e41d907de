//! Published data replaces the sample without being compared with it.

use ingest::{
    IngestError, Options, Outcome, ReportName, RollbackTarget, Sources, ingest, rollback,
};
use numbering::{changes::ChangeKind, records::Country};

use crate::support::{
    imports::assert_no_drift,
    service::Service,
    small_reports::{ReportSet, dump},
};

/// The published reports, which lack the carriers' types and trade names.
fn published_sources() -> Sources {
    ReportSet::published().sources().without(ReportName::Carriers)
}

#[tokio::test]
async fn published_data_replaces_the_sample_permanently_like_a_first_import() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let sample = store.manifest().await.unwrap().unwrap().current;
    assert!(sample.is_sample());

    let dry = Options { dry_run: true, ..Options::default() };
    let before = dump(&store).await;
    let planned = ingest(&store, &published_sources(), dry, |_| ()).await.unwrap();
    assert_eq!(dump(&store).await, before);
    assert_eq!((&planned.outcome, planned.replaces_sample), (&Outcome::Planned, true));
    let report = ingest(&store, &published_sources(), Options::default(), |_| ()).await.unwrap();
    assert_eq!((&report.outcome, report.replaces_sample), (&Outcome::Published, true));
    assert_eq!(report.changes.total(), planned.changes.total());
    let changes = report.changes;
    let records = report.records as usize + report.carriers + report.area_codes;
    assert_eq!(changes.total(), records, "every record is new");
    assert!(changes.iter().all(|change| change.change == ChangeKind::Added));
    assert_eq!(report.quality.countries[&Country::Us]["records"].before, None);
    assert!(report.items.deleted > 0, "the sample's carriers without exchanges are gone");
    assert_no_drift(&store).await;
    let options = Options::default();
    let refused = rollback(&store, &RollbackTarget::NewestReadable, options, |_| ()).await;
    assert!(matches!(refused, Err(IngestError::NoOlderVersion)), "{refused:?}");
    let older = ingest(&store, &ReportSet::sample().sources(), options, |_| ()).await.unwrap();
    let Outcome::Refused { reason, .. } = older.outcome else { panic!("{:?}", older.outcome) };
    assert!(reason.contains("older than the current data (2026-07-01)"), "{reason}");

    let service = service.restart().await;
    let found = service.ok("/v1/carriers?q=sample").await;
    assert_eq!(found["pagination"]["total"], 0);
    let old_page = format!("/v1/carriers?version={}", sample.version);
    assert_eq!(service.get(&old_page).await.status().as_u16(), 400);
}
