//! Sweeping deletes obsolete snapshot chunks and no others.

use ingest::Options;
use jiff::ToSpan;

use crate::support::{
    fault_proxy::{Fault, at_operation},
    imports::{import, store_with_faults},
    service::Service,
    small_reports::{ReportTexts, dump},
};

#[tokio::test]
async fn versions_beyond_the_three_retained_are_deleted_after_a_day() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let first = store.manifest().await.unwrap().unwrap().current;
    // The fifth import runs when the first version is a day old, and the sixth a second later.
    let day = 24 * 60 * 60;
    for (number, seconds) in [60, 120, 180, 240, day, day + 1].into_iter().enumerate() {
        let mut texts = ReportTexts::first();
        texts.nanpa = texts.nanpa.replace("415-234", &format!("415-{number:03}"));
        let now = first.ingested_at + seconds.seconds();
        import(&store, &texts, Options { now, ..Options::default() }).await.unwrap();
        let manifest = store.manifest().await.unwrap().unwrap();
        assert_eq!(manifest.retained.len(), (number + 1).min(3));
        let is_present =
            dump(&store).await.into_keys().any(|key| key.contains(first.version.as_str()));
        assert_eq!(is_present, seconds <= day, "after {seconds} seconds");
    }
    let chunks = dump(&store).await.into_keys().filter(|key| key.contains("#0000"));
    assert_eq!(chunks.count(), 1 + 3 + 2, "the retained ones, and two that are younger");
}

/// A crashed import leaves chunks that no manifest names. They stay as long as the import could still be running and
/// publish them.
#[tokio::test]
async fn chunks_of_a_crashed_import_are_deleted_once_it_cannot_publish() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let chunks = async || {
        let items = dump(&store).await.into_keys();
        items.filter(|key| key.starts_with("dataset ") && key.contains("#0")).count()
    };
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let policy = at_operation("PutItem", Fault::CutOff);
    let (dying, _proxy) = store_with_faults(&service, policy).await;
    let old = Options { now: now - 48.hours(), ..Options::default() };
    import(&dying, &ReportTexts::second(), old).await.unwrap_err();
    assert_eq!(chunks().await, 2, "those of the current version and the crashed import");

    store.sweep(now).await.unwrap();
    assert_eq!(chunks().await, 2, "it may still be published");
    import(&store, &ReportTexts::first(), Options::default()).await.unwrap();
    assert_eq!(chunks().await, 1);
}

/// Found by the publishing model: a slow sweep used an outdated manifest. It deleted the chunks of a
/// version that two other imports, their clocks a day behind, had published meanwhile.
#[tokio::test]
async fn an_overtaken_sweep_deletes_no_current_chunk() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let policy = at_operation("Scan", Fault::Held);
    let (sweeping, proxy) = store_with_faults(&service, policy).await;
    let import_and_publish = async |texts: &ReportTexts, hours: i64| {
        let options = Options { now: now - hours.hours(), ..Options::default() };
        import(&store, texts, options).await.unwrap();
    };
    let overtake = async {
        proxy.until_held().await;
        import_and_publish(&ReportTexts::second(), 48).await;
        import_and_publish(&ReportTexts::third(), 48).await;
        proxy.release();
    };
    let (swept, ()) = tokio::join!(sweeping.sweep(now), overtake);
    swept.unwrap();
    let service = service.restarted().await;
    assert_eq!(service.get_json("/v1/npa/415/nxx/209").await.0, 200);
}
