//! Imports and rollbacks that cannot write to the history. The data is published, responses about the past are never wrong,
//! and the next import adds what is missing.

use ingest::{Options, Outcome, ingest};
use jiff::Timestamp;
use numbering::time::date_of;
use store::{Gap, Store, TimeoutProfile};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    nights::Nights,
    service::Service,
    small_reports::ReportSet,
};

/// Nights whose imports cannot write to the history while the proxy fails.
async fn nights() -> (Nights, FaultProxy) {
    let service = Service::empty().await;
    let endpoint = service.database.endpoint();
    let proxy = FaultProxy::with_switch(endpoint, Some("history"), Fault::NonRetryable).await;
    let store = Store::connect_to_emulator(&proxy.endpoint, TimeoutProfile::Batch);
    (Nights::new(service, store), proxy)
}

/// Asserts that each night before `known` gives an error that says why, and each later night has its own responses.
async fn assert_past(nights: &Nights, known: usize) {
    let service = nights.fresh_service().await;
    for (night, target, expected) in nights.past_answers() {
        let (status, body) = service.get_json(&target).await;
        if night >= known {
            assert_eq!((status.as_u16(), &body), (expected.0, &expected.1), "{target}");
            continue;
        }
        assert_eq!(status, 503, "{target}: {body}");
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("which the next import adds"), "{message}");
    }
    let since = format!("/v1/changes?since={}", date_of(nights.start));
    for target in [&*since, "/v1/changes", "/v1/npa/415/nxx/207/history"] {
        let (status, body) = service.get_json(target).await;
        assert_eq!(status.as_u16(), if known > 0 { 503 } else { 200 }, "{target}: {body}");
    }
    assert_eq!(service.ok("/health").await["status"], "healthy");
}

async fn gap(store: &Store) -> Option<Gap> {
    let manifest = store.manifest().await.unwrap().unwrap();
    store.history(&manifest, Timestamp::now()).await.unwrap().gap()
}

#[tokio::test]
async fn imports_and_rollbacks_that_cannot_write_their_history_take_effect_and_a_later_import_adds_it()
 {
    let (mut nights, history) = nights().await;
    nights.import(&ReportSet::first()).await;
    nights.import(&ReportSet::second()).await;
    history.start_failing();
    let report = nights.roll_back().await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::RolledBack, 1));
    let report = nights.import(&ReportSet::third()).await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::Published, 2));
    assert!(report.warnings.keys().any(|kind| kind.contains("history")), "{report:?}");
    let report = nights.import(&ReportSet::third()).await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::Unchanged, 2));
    history.stop_failing();
    assert_eq!(gap(&nights.store).await, Some(Gap::Unrecorded));
    assert_past(&nights, 3).await;

    let report = nights.import(&ReportSet::third()).await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::Unchanged, 0));
    assert_eq!(gap(&nights.store).await, None);
    assert_past(&nights, 0).await;
}

#[tokio::test]
async fn a_history_can_be_given_up_or_turned_off() {
    let (mut nights, history) = nights().await;
    nights.import(&ReportSet::first()).await;
    history.start_failing();
    nights.import(&ReportSet::second()).await;
    history.stop_failing();
    let restart = Options { restart_history: true, ..nights.options() };
    let report = ingest(&nights.store, &ReportSet::third().sources(), restart, |_| ()).await;
    assert_eq!(report.unwrap().unrecorded, 0);
    assert_eq!(gap(&nights.store).await, None);
    let service = nights.fresh_service().await;
    let (status, body) = service.get_json(&format!("/v1/changes?since={}", nights.start)).await;
    assert!(status == 400 && body["message"].as_str().unwrap().contains("begins"), "{body}");

    let off = Options { history_days: 0, ..nights.options() };
    history.start_failing();
    let report = ingest(&nights.store, &ReportSet::first().sources(), off, |_| ()).await.unwrap();
    assert_eq!((report.unrecorded, report.warnings.len()), (0, 0), "{report:?}");
    history.stop_failing();
    let manifest = nights.store.manifest().await.unwrap().unwrap();
    assert_eq!(manifest.publication.ends_at, None);
}
