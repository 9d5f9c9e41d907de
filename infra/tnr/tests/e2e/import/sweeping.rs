//! Sweeping deletes obsolete snapshot chunks and no others. The publishing model covers sweeps that are overtaken.

use ingest::Options;
use jiff::ToSpan;
use store::Store;

use crate::support::{
    fault_proxy::{Fault, for_operation},
    imports::{import, store_with_faults},
    service::Service,
    small_reports::{ReportSet, dump},
};

/// The keys of all snapshot chunks.
async fn chunks(store: &Store) -> impl Iterator<Item = String> {
    let items = dump(store).await.into_keys();
    items.filter(|key| key.starts_with("dataset ") && key.contains("#0"))
}

#[tokio::test]
async fn versions_beyond_the_three_retained_are_deleted_after_a_day() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let first = store.manifest().await.unwrap().unwrap().current;
    // The fifth import runs when the first version is a day old, and the sixth a second later.
    let day = 24 * 60 * 60;
    for (index, seconds) in [60, 120, 180, 240, day, day + 1].into_iter().enumerate() {
        let mut reports = ReportSet::first();
        reports.nanpa = reports.nanpa.replace("415-234", &format!("415-{index:03}"));
        let now = first.ingested_at + seconds.seconds();
        import(&store, &reports, Options { now, ..Options::default() }).await.unwrap();
        let manifest = store.manifest().await.unwrap().unwrap();
        assert_eq!(manifest.retained.len(), (index + 1).min(3));
        let is_present = chunks(&store).await.any(|key| key.contains(first.version.as_str()));
        assert_eq!(is_present, seconds <= day, "after {seconds} seconds");
    }
    let (retained, younger_than_a_day) = (3, 2);
    assert_eq!(chunks(&store).await.count(), 1 + retained + younger_than_a_day);
}

/// A crashed import leaves chunks that no manifest references. They stay while it could still publish them.
#[tokio::test]
async fn chunks_from_a_crashed_import_are_deleted_once_it_cannot_publish() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let policy = for_operation("PutItem", Fault::CutOff);
    let (crashing, _proxy) = store_with_faults(&service, policy).await;
    let old = Options { now: now - 48.hours(), ..Options::default() };
    import(&crashing, &ReportSet::second(), old).await.unwrap_err();
    store.sweep(now).await.unwrap();
    assert_eq!(chunks(&store).await.count(), 2, "it may still be published");
    import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    assert_eq!(chunks(&store).await.count(), 1);
}
