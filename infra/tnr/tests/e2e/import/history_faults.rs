//! Tests histories that cannot be written, have missing or damaged parts, or are discarded. Responses with past data
//! are correct, or say how to fix the problem. `verify --repair` or the next import restores what is stored elsewhere.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use ingest::{
    HistoryDrift, ImportReport, Options, Outcome, Repair, Verification, ingest, rollback, verify,
};
use jiff::{Timestamp, ToSpan};
use numbering::time::{date_of, this_second};
use serde_json::Value;
use store::{Gap, Publication, Store, Table};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    imports::{LOOKUPS, Responses, delete_chunk, responses_to, without_gates},
    service::Service,
    small_reports::ReportSet,
};

/// A deployment's imports and rollbacks, one a night, and the responses after each.
struct Nights {
    /// Owns the database.
    service: Service,
    store: Store,
    /// Rejects calls to the history table while it fails.
    proxy: FaultProxy,
    start: Timestamp,
    publications: Vec<Publication>,
    responses: Vec<Responses>,
}

impl Nights {
    /// Starts with an empty database.
    async fn new() -> Self {
        let service = Service::empty().await;
        let endpoint = service.database.endpoint();
        let proxy = FaultProxy::with_switch(endpoint, Some("history"), Fault::NON_RETRYABLE).await;
        let start = this_second() - (24 * 10).hours();
        let (store, publications, responses) = (proxy.store(), Vec::new(), Vec::new());
        Self { service, store, proxy, start, publications, responses }
    }

    /// Three nights, each with a different version.
    async fn three() -> Self {
        let mut nights = Self::new().await;
        for reports in [ReportSet::first(), ReportSet::second(), ReportSet::third()] {
            nights.import(&reports).await;
        }
        nights.assert_responses_for_each_night(0).await;
        nights
    }

    fn options(&self) -> Options {
        let now = self.start + (24 * self.responses.len() as i64).hours();
        Options { now, ..without_gates() }
    }

    /// Imports these reports without starting a new night.
    async fn ingest(&self, reports: &ReportSet, options: Options) -> ImportReport {
        ingest(&self.store, &reports.sources(), options, |_| ()).await.unwrap()
    }

    async fn import(&mut self, reports: &ReportSet) -> ImportReport {
        let report = self.ingest(reports, self.options()).await;
        self.end_night().await;
        report
    }

    async fn roll_back(&mut self) -> ImportReport {
        let report = rollback(&self.store, None, self.options(), |_| ()).await.unwrap();
        self.end_night().await;
        report
    }

    async fn end_night(&mut self) {
        self.publications.push(self.store.manifest().await.unwrap().unwrap().publication);
        self.responses.push(responses_to(&self.fresh_service().await, LOOKUPS).await);
    }

    /// A service with nothing in memory.
    async fn fresh_service(&self) -> Service {
        Service::patient(self.service.database.endpoint()).await
    }

    async fn health(&self) -> Value {
        self.fresh_service().await.ok("/health").await["status"].take()
    }

    async fn gap(&self) -> Option<Gap> {
        let manifest = self.store.manifest().await.unwrap().unwrap();
        self.store.history(&manifest, Timestamp::now()).await.unwrap().gap()
    }

    async fn verify(&self, repair: Repair) -> Verification {
        verify(&self.store, repair, None, |_| ()).await.unwrap()
    }

    /// Asserts that lookups for nights before `known` say that the next import adds them, and that later nights return
    /// their own responses.
    async fn assert_responses_for_each_night(&self, known: usize) {
        let service = self.fresh_service().await;
        for (night, expected) in self.responses.iter().enumerate() {
            for (target, expected) in expected {
                let found = responses_to(&service, [self.in_night(night, target)]).await;
                let found = found.into_values().next().unwrap();
                if night >= known {
                    assert_eq!(found, *expected, "{night} {target}");
                } else {
                    assert_eq!(found.0, 503, "{night} {target}: {found:?}");
                    let message = found.1["message"].as_str().unwrap();
                    assert!(message.contains("which the next import adds"), "{message}");
                }
            }
        }
    }

    /// Adds an `as_of` to a lookup's target: 12 hours into this night.
    fn in_night(&self, night: usize, target: &str) -> String {
        let separator = if target.contains('?') { '&' } else { '?' };
        format!("{target}{separator}as_of={}", self.start + (24 * night as i64 + 12).hours())
    }

    /// Targets of lookups for each night, and of change lists.
    fn targets(&self) -> Vec<String> {
        let nights = 0..self.responses.len();
        let lookups = nights.flat_map(|night| LOOKUPS.map(|target| self.in_night(night, target)));
        let mut targets: Vec<String> = lookups.collect();
        let ids = self.publications.iter().map(|publication| publication.id.to_string());
        for since in ids.chain([date_of(self.start).to_string()]) {
            targets.push(format!("/v1/changes?since={since}&limit=100"));
            targets.push(format!("/v1/changes?since={since}&npa=415"));
        }
        let others = [
            "npa/415/nxx/206/history",
            "npa/415/nxx/207/history",
            "carrier/908K/history",
            "changes",
        ];
        targets.extend(others.map(|target| format!("/v1/{target}")));
        targets
    }

    /// Asserts that each response is correct or an error that names the remedy. Returns the number of errors.
    async fn count_errors(&self, expected: &Responses) -> usize {
        let found = responses_to(&self.fresh_service().await, expected.keys()).await;
        let wrong = found.iter().filter(|&(target, found)| {
            let mut found = found.clone();
            // The start is unknown while an earlier part is unreadable.
            if found.1.get("history_begins_at") == Some(&Value::Null) {
                found.1["history_begins_at"] = expected[target].1["history_begins_at"].clone();
            }
            found != expected[target]
        });
        let remedied = |(target, found): (&String, &(u16, Value))| {
            let message = found.1["message"].as_str().unwrap_or_default();
            let names_remedy = found.0 == 503 && message.contains("'tnr verify --repair'");
            assert!(names_remedy, "{target}: {found:?}, expected {:?}", expected[target]);
        };
        wrong.map(remedied).count()
    }
}

/// A way to damage an item in the history.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Damage {
    /// An attribute changes, but not the checksum.
    Changed,
    Deleted,
}

async fn apply_damage(store: &Store, damage: Damage, code: &str, entry: &str) {
    let (client, tables) = store.parts();
    let table = tables.name(Table::History);
    let [code, entry] = [code, entry].map(|key| AttributeValue::S(key.to_owned()));
    if damage == Damage::Deleted {
        let delete = client.delete_item().table_name(table).key("code", code);
        let delete = delete.return_values(ReturnValue::AllOld);
        let deleted = delete.key("entry", entry.clone()).send().await.unwrap();
        assert!(deleted.attributes.is_some(), "{entry:?}");
        return;
    }
    let update = client.update_item().table_name(table).key("code", code);
    let update = update.key("entry", entry).condition_expression("attribute_exists(entry)");
    // A chunk has data, and other items have a checksum of all attributes.
    let update = update.update_expression("SET damage = :damage, #data = :data");
    let update = update.expression_attribute_names("#data", "data");
    let update = update.expression_attribute_values(":damage", AttributeValue::Bool(true));
    let update = update.expression_attribute_values(":data", AttributeValue::S("x".to_owned()));
    update.send().await.unwrap();
}

#[tokio::test]
async fn damaged_history_is_reported_and_restored_from_copies() {
    use Damage::{Changed, Deleted};
    let past = Nights::three().await;
    let expected = &responses_to(&past.fresh_service().await, past.targets()).await;
    let [_, second, third] = &past.publications[..] else { panic!() };
    let change = |publication: &Publication, nxx: &str| {
        let Publication { number, id, .. } = publication;
        ("415", format!("{nxx}#{number:010}#{id}"))
    };
    let publication = HistoryDrift { publications: 1, ..HistoryDrift::default() };
    let difference = HistoryDrift { differences: 1, ..HistoryDrift::default() };
    let one_change = HistoryDrift { changes: 1, ..HistoryDrift::default() };
    let intact = past.verify(Repair::No).await.history;
    assert_eq!((intact.publications, intact.drift), (3, HistoryDrift::default()));
    assert!(intact.changes > 6, "{intact:?}");
    for ((code, entry), drift, has_errors, health) in [
        // Exchange 206 was removed, so only its change shows that it existed.
        (change(second, "206"), one_change, true, "healthy"),
        (change(third, "207"), one_change, true, "healthy"),
        ((second.id.as_str(), "0000".to_owned()), difference, true, "healthy"),
        (("publications", second.id.to_string()), publication, true, "degraded"),
        (("publications", third.id.to_string()), publication, true, "degraded"),
        (("copies", second.id.to_string()), publication, false, "healthy"),
    ] {
        for damage in [Changed, Deleted] {
            let context = format!("{damage:?} {code} {entry}");
            apply_damage(&past.store, damage, code, &entry).await;
            assert_eq!(past.count_errors(expected).await > 0, has_errors, "{context}");
            assert_eq!(past.health().await, health, "{context}");
            let found = past.verify(Repair::No).await;
            assert_eq!((found.history.drift, found.total_drift()), (drift, 1), "{context}");
            assert!(found.history.lost.is_empty(), "{context}: {found:?}");

            past.verify(Repair::Yes).await;
            assert_eq!(past.verify(Repair::No).await.history, intact, "{context}");
            assert_eq!(past.health().await, "healthy", "{context}");
        }
    }
    assert_eq!(past.count_errors(expected).await, 0);

    // Retained versions are enough to restore a publication and its difference.
    // Only the third publication's changes are left, but no list of them.
    for (code, entry) in [
        ("publications", third.id.as_str()),
        ("copies", third.id.as_str()),
        (third.id.as_str(), "0000"),
    ] {
        apply_damage(&past.store, Deleted, code, entry).await;
    }
    // For the second publication, both the changes and the difference are incomplete.
    apply_damage(&past.store, Deleted, second.id.as_str(), "0000").await;
    let (code, entry) = change(second, "207");
    apply_damage(&past.store, Changed, code, &entry).await;
    assert!(past.count_errors(expected).await > 0);
    past.verify(Repair::Yes).await;
    assert_eq!(past.count_errors(expected).await, 0);
    assert_eq!(past.verify(Repair::No).await.history.drift, HistoryDrift::default());
}

#[tokio::test]
async fn lost_publication_is_reported_until_the_history_is_restarted() {
    let past = Nights::three().await;
    let expected = responses_to(&past.fresh_service().await, past.targets()).await;
    let [first, second, third] = &past.publications[..] else { panic!() };
    delete_chunk(&past.store, &first.version).await;
    for code in ["publications", "copies"] {
        apply_damage(&past.store, Damage::Deleted, code, second.id.as_str()).await;
    }
    let lost = past.verify(Repair::Yes).await.history;
    assert!(lost.lost.len() == 1 && lost.lost[0].contains(second.id.as_str()), "{lost:?}");
    assert!(past.count_errors(&expected).await > 0);
    // The remaining part is intact.
    let service = past.fresh_service().await;
    service.ok(&format!("/v1/changes?since={}", third.id)).await;
    let until_third = format!("/v1/changes?since={}", second.id);
    service.ok(&until_third).await;

    past.ingest(&ReportSet::first(), past.options()).await;
    assert_eq!(past.verify(Repair::No).await.history.lost.len(), 1, "no import gives up a history");
    let restart = Options { restart_history: true, ..past.options() };
    past.ingest(&ReportSet::first(), restart).await;
    assert_eq!(past.verify(Repair::No).await.history.drift, HistoryDrift::default());
    let (status, body) = past.fresh_service().await.get_json(&until_third).await;
    assert_eq!(status, 400, "{body}");
}

#[tokio::test]
async fn import_after_a_damaged_current_version_continues_the_history() {
    let mut past = Nights::three().await;
    delete_chunk(&past.store, &past.publications[2].version).await;
    // Even if nothing has changed, the version must be stored again.
    let report = past.import(&ReportSet::third()).await;
    assert_eq!((report.changes.total(), report.unrecorded), (0, 0), "{report:?}");
    assert!(report.warnings.keys().any(|kind| kind.contains("was rebuilt")), "{report:?}");
    let manifest = past.store.manifest().await.unwrap().unwrap();
    assert!(manifest.publication.number == 3 && manifest.publication.ends_at.is_some());
    delete_chunk(&past.store, &manifest.current.version).await;
    let report = past.import(&ReportSet::first()).await;
    assert!(report.changes.total() > 0 && report.unrecorded == 0, "{report:?}");
    past.assert_responses_for_each_night(0).await;
    assert_eq!(past.verify(Repair::No).await.total_drift(), 0);
}

#[tokio::test]
async fn later_import_adds_history_that_could_not_be_written() {
    let mut nights = Nights::new().await;
    nights.import(&ReportSet::first()).await;
    nights.import(&ReportSet::second()).await;
    nights.proxy.start_failing();
    let report = nights.roll_back().await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::RolledBack, 1));
    let report = nights.import(&ReportSet::third()).await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::Published, 2));
    assert!(report.warnings.keys().any(|kind| kind.contains("history")), "{report:?}");
    let report = nights.import(&ReportSet::third()).await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::Unchanged, 2));
    nights.proxy.stop_failing();
    assert_eq!(nights.gap().await, Some(Gap::Unrecorded));
    nights.assert_responses_for_each_night(3).await;
    assert_eq!(nights.health().await, "healthy");
    let since = format!("/v1/changes?since={}", date_of(nights.start));
    let targets = [&*since, "/v1/changes", "/v1/npa/415/nxx/207/history"];
    let found = responses_to(&nights.fresh_service().await, targets).await;
    assert!(found.values().all(|(status, _)| *status == 503), "{found:?}");

    let report = nights.import(&ReportSet::third()).await;
    assert_eq!((&report.outcome, report.unrecorded), (&Outcome::Unchanged, 0));
    let found = responses_to(&nights.fresh_service().await, targets).await;
    assert!(found.values().all(|(status, _)| *status == 200), "{found:?}");
    assert_eq!(nights.gap().await, None);
    nights.assert_responses_for_each_night(0).await;
}

#[tokio::test]
async fn unrecorded_history_can_be_discarded_and_history_disabled() {
    let mut nights = Nights::new().await;
    nights.import(&ReportSet::first()).await;
    nights.proxy.start_failing();
    nights.import(&ReportSet::second()).await;
    let off = Options { history_days: 0, ..nights.options() };
    let report = nights.ingest(&ReportSet::first(), off).await;
    assert_eq!((report.unrecorded, report.warnings.len()), (0, 0), "{report:?}");
    let manifest = nights.store.manifest().await.unwrap().unwrap();
    assert_eq!(manifest.publication.ends_at, None);

    nights.import(&ReportSet::second()).await;
    nights.proxy.stop_failing();
    let restart = Options { restart_history: true, ..nights.options() };
    assert_eq!(nights.ingest(&ReportSet::third(), restart).await.unrecorded, 0);
    assert_eq!(nights.gap().await, None);
}
