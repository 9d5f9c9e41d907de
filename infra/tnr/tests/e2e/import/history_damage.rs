//! A history with missing and damaged parts. Responses are right or name the remedy, and `verify --repair` restores what is
//! stored elsewhere.

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{HistoryDrift, Options, Repair, Verification, ingest, verify};
use numbering::{records::Version, time::date_of};
use serde_json::Value;
use store::{Publication, Store};

use crate::support::{
    nights::Nights,
    service::Service,
    small_reports::ReportSet,
    unreadable_versions::{Reason, make_unreadable},
};

/// Damage to an item in the history.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Damage {
    /// An attribute changes, and the checksum does not.
    Changed,
    Deleted,
}

async fn inflict(store: &Store, damage: Damage, code: &str, entry: &str) {
    let (client, tables) = store.parts();
    let [code, entry] = [code, entry].map(|key| AttributeValue::S(key.to_owned()));
    if damage == Damage::Deleted {
        let delete = client.delete_item().table_name(&tables.history).key("code", code);
        let delete = delete.return_values(aws_sdk_dynamodb::types::ReturnValue::AllOld);
        let deleted = delete.key("entry", entry.clone()).send().await.unwrap();
        assert!(deleted.attributes.is_some(), "{entry:?}");
        return;
    }
    let update = client.update_item().table_name(&tables.history).key("code", code);
    let update = update.key("entry", entry).condition_expression("attribute_exists(entry)");
    // A chunk has its data, and other items have a checksum of all attributes.
    let update = update.update_expression("SET damage = :damage, #data = :data");
    let update = update.expression_attribute_names("#data", "data");
    let update = update.expression_attribute_values(":damage", AttributeValue::Bool(true));
    let update = update.expression_attribute_values(":data", AttributeValue::S("x".to_owned()));
    update.send().await.unwrap();
}

/// Three versions and a rollback, with their publications, and every answer about the past.
struct Past {
    nights: Nights,
    publications: Vec<Publication>,
    expected: Vec<(String, (u16, Value))>,
}

impl Past {
    async fn new() -> Self {
        let service = Service::empty().await;
        let store = service.database.store();
        let mut nights = Nights::new(service, store);
        let mut publications = Vec::new();
        for reports in [ReportSet::first(), ReportSet::second(), ReportSet::third()] {
            nights.import(&reports).await;
            publications.push(nights.store.manifest().await.unwrap().unwrap().publication);
        }
        let mut past = Self { nights, publications, expected: Vec::new() };
        past.expected = past.ask().await;
        past.assert_own(&past.expected);
        past
    }

    /// Asserts that each night has its own responses.
    fn assert_own(&self, found: &[(String, (u16, Value))]) {
        for ((target, found), (_, past_target, expected)) in
            found.iter().zip(self.nights.past_answers())
        {
            assert_eq!((target, found), (&past_target, expected));
        }
    }

    /// Every answer about the past, from a service with nothing in memory.
    async fn ask(&self) -> Vec<(String, (u16, Value))> {
        let lookups = self.nights.past_answers().map(|(_, target, _)| target);
        let mut targets: Vec<String> = lookups.collect();
        let since: Vec<String> = [date_of(self.nights.start).to_string()]
            .into_iter()
            .chain(self.publications.iter().map(|publication| publication.id.to_string()))
            .collect();
        for since in since {
            targets.push(format!("/v1/changes?since={since}&limit=100"));
            targets.push(format!("/v1/changes?since={since}&npa=415"));
        }
        targets.extend(["415/nxx/206", "415/nxx/207"].map(|it| format!("/v1/npa/{it}/history")));
        targets.push("/v1/carrier/908K/history".to_owned());
        targets.push("/v1/changes".to_owned());
        let service = self.nights.fresh_service().await;
        let mut answers = Vec::new();
        for target in targets {
            let (status, body) = service.get_json(&target).await;
            answers.push((target, (status.as_u16(), body)));
        }
        answers
    }

    /// Asserts that each answer is right or an error that names the remedy, and returns the number of errors.
    async fn count_errors(&self) -> usize {
        let mut errors = 0;
        for ((target, found), (_, expected)) in self.ask().await.into_iter().zip(&self.expected) {
            if found != *expected {
                let message = found.1["message"].as_str().unwrap_or_default();
                assert!(
                    found.0 == 503 && message.contains("'tnr verify --repair'"),
                    "{target}: {found:?}, expected {expected:?}"
                );
                errors += 1;
            }
        }
        errors
    }

    async fn verify(&self, repair: Repair) -> Verification {
        verify(&self.nights.store, repair, None, |_| ()).await.unwrap()
    }

    /// Deletes a chunk of a retained version.
    async fn damage_version(&self, version: &Version) {
        let manifest = self.nights.store.manifest().await.unwrap().unwrap();
        let snapshot = manifest.snapshot(version.as_str()).unwrap();
        make_unreadable(&self.nights.store, snapshot, Reason::MissingChunk).await;
    }

    async fn health(&self) -> Value {
        self.nights.fresh_service().await.ok("/health").await["status"].take()
    }
}

#[tokio::test]
async fn damage_to_the_history_is_named_and_restored_from_what_is_stored_elsewhere() {
    let past = Past::new().await;
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
    for damage in [Damage::Changed, Damage::Deleted] {
        for (code, entry, drift, has_errors, health) in [
            // Exchange 206 was removed, so only its change shows that it existed.
            (change(second, "206").0, change(second, "206").1, one_change, true, "healthy"),
            (change(third, "207").0, change(third, "207").1, one_change, true, "healthy"),
            (second.id.as_str(), "0000".to_owned(), difference, true, "healthy"),
            ("publications", second.id.to_string(), publication, true, "degraded"),
            ("publications", third.id.to_string(), publication, true, "degraded"),
            ("copies", second.id.to_string(), publication, false, "healthy"),
        ] {
            let context = format!("{damage:?} {code} {entry}");
            inflict(&past.nights.store, damage, code, &entry).await;
            assert_eq!(past.count_errors().await > 0, has_errors, "{context}");
            assert_eq!(past.health().await, health, "{context}");
            let found = past.verify(Repair::No).await;
            assert_eq!((found.history.drift, found.total_drift()), (drift, 1), "{context}");
            assert!(found.history.lost.is_empty(), "{context}: {found:?}");

            past.verify(Repair::Yes).await;
            assert_eq!(past.verify(Repair::No).await.history, intact, "{context}");
            assert_eq!(past.count_errors().await, 0, "{context}");
            assert_eq!(past.health().await, "healthy", "{context}");
        }
    }

    // Retained versions restore a publication and its difference.
    // All that is left of the third publication are its changes, but not which ones there are.
    for (code, entry) in [
        ("publications", third.id.as_str()),
        ("copies", third.id.as_str()),
        (third.id.as_str(), "0000"),
    ] {
        inflict(&past.nights.store, Damage::Deleted, code, entry).await;
    }
    // Neither the changes nor the difference of the second one are complete.
    inflict(&past.nights.store, Damage::Deleted, second.id.as_str(), "0000").await;
    let entry = format!("207#{:010}#{}", second.number, second.id);
    inflict(&past.nights.store, Damage::Changed, "415", &entry).await;
    assert!(past.count_errors().await > 0);
    past.verify(Repair::Yes).await;
    assert_eq!(past.count_errors().await, 0);
    assert_eq!(past.verify(Repair::No).await.history.drift, HistoryDrift::default());
}

#[tokio::test]
async fn a_lost_publication_is_named_until_the_history_is_restarted() {
    let past = Past::new().await;
    let [first, second, third] = &past.publications[..] else { panic!() };
    let store = &past.nights.store;
    past.damage_version(&first.version).await;
    for code in ["publications", "copies"] {
        inflict(store, Damage::Deleted, code, second.id.as_str()).await;
    }
    let lost = past.verify(Repair::Yes).await.history;
    assert!(lost.lost.len() == 1 && lost.lost[0].contains(second.id.as_str()), "{lost:?}");
    assert!(past.count_errors().await > 0);
    // The part that is left is intact.
    let service = past.nights.fresh_service().await;
    service.ok(&format!("/v1/changes?since={}", third.id)).await;
    let until_third = format!("/v1/changes?since={}", second.id);
    service.ok(&until_third).await;

    let reports = ReportSet::first().sources();
    let import = async |restart_history| {
        let options = Options { restart_history, ..past.nights.options() };
        ingest(store, &reports, options, |_| ()).await.unwrap()
    };
    import(false).await;
    assert_eq!(past.verify(Repair::No).await.history.lost.len(), 1, "no import gives up a history");
    import(true).await;
    assert_eq!(past.verify(Repair::No).await.history.drift, HistoryDrift::default());
    let (status, body) = past.nights.fresh_service().await.get_json(&until_third).await;
    assert_eq!(status, 400, "{body}");
}

#[tokio::test]
async fn an_import_over_a_damaged_current_version_continues_its_history() {
    let mut past = Past::new().await;
    let third = past.publications[2].clone();
    past.damage_version(&third.version).await;
    // Even if nothing has changed, the version must be stored again.
    let report = past.nights.import(&ReportSet::third()).await;
    assert_eq!((report.changes.total(), report.unrecorded), (0, 0), "{report:?}");
    assert!(report.warnings.keys().any(|kind| kind.contains("was rebuilt")), "{report:?}");
    let manifest = past.nights.store.manifest().await.unwrap().unwrap();
    assert!(manifest.publication.number == 3 && manifest.publication.ends_at.is_some());
    past.damage_version(&manifest.current.version).await;
    let report = past.nights.import(&ReportSet::first()).await;
    assert!(report.changes.total() > 0 && report.unrecorded == 0, "{report:?}");
    past.assert_own(&past.ask().await);
    assert_eq!(past.verify(Repair::No).await.total_drift(), 0);
}
