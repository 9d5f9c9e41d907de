//! Two releases whose snapshots have different layouts, one after the other on the same tables:
//! neither takes from the other what it answers from.

use ingest::{Options, Outcome, Repair, ingest, rollback, verify};
use jiff::ToSpan;
use logging::with_causes;
use reqwest::StatusCode;
use serde_json::Value;
use store::{Manifest, Snapshot, Store, TimeoutProfile};
use tnr::database::Database;

use crate::support::{
    foreign_versions::{FOREIGN_LAYOUTS, Statement, publish_in_layout},
    imports::{answers, import, without_gates},
    other_release::endpoint_of_other_release,
    service::Service,
    small_reports::ReportTexts,
};

/// Every way in which a release can meet a version in another layout.
fn foreign_versions() -> impl Iterator<Item = (u8, Statement)> {
    let statements = [Statement::Stated, Statement::Unstated];
    FOREIGN_LAYOUTS.into_iter().flat_map(move |layout| statements.map(|how| (layout, how)))
}

async fn health(service: &Service) -> Value {
    service.ok("/health").await["status"].take()
}

/// What `/health` says if the current version is foreign. It reads the manifest alone, so it does not
/// know if that states no layout.
fn expected_health(statement: Statement) -> &'static str {
    match statement {
        Statement::Stated => "degraded",
        Statement::Unstated => "healthy",
    }
}

/// The names of all versions that the manifest has, the newest first.
async fn versions(store: &Store) -> Vec<String> {
    let manifest = store.manifest().await.unwrap().unwrap();
    manifest.snapshots().map(|snapshot| snapshot.version.to_string()).collect()
}

/// Imports a set of reports that differs from all others, as if so many days had passed.
async fn import_after_days(store: &Store, day: i64, first: &Snapshot) {
    let mut texts = ReportTexts::first();
    texts.nanpa = texts.nanpa.replace("415-234", &format!("415-{:03}", 300 + day));
    let options = Options { now: first.ingested_at + (25 * day).hours(), ..without_gates() };
    let report = import(store, &texts, options).await.unwrap();
    assert_eq!(report.outcome, Outcome::Published);
}

#[tokio::test]
async fn a_container_that_starts_answers_from_the_newest_version_that_it_reads() {
    for (layout, statement) in foreign_versions() {
        let service = Service::with_small_reports().await;
        let before = answers(&service).await;
        let store = service.database.store();
        publish_in_layout(&store, layout, statement).await;

        let service = service.restarted().await;
        assert_eq!(answers(&service).await, before, "{layout} {statement:?}");
        assert_eq!(health(&service).await, expected_health(statement));
        import(&store, &ReportTexts::second(), without_gates()).await.unwrap();
        let service = service.restarted().await;
        assert_eq!(service.answer("/v1/npa/415/nxx/207").await.0, StatusCode::OK);
        assert_eq!(health(&service).await, "healthy");
    }
}

#[tokio::test]
async fn a_container_that_runs_keeps_its_version_while_another_release_imports() {
    let service = Service::with_small_reports().await;
    let before = answers(&service).await;
    publish_in_layout(&service.database.store(), FOREIGN_LAYOUTS[1], Statement::Stated).await;
    assert_eq!(answers(&service).await, before);
    assert_eq!(health(&service).await, "degraded", "of the table, and not of the container");
}

#[tokio::test]
async fn imports_keep_a_version_in_another_layout_and_its_chunks() {
    for layout in FOREIGN_LAYOUTS {
        let service = Service::with_small_reports().await;
        let store = service.database.store();
        let foreign = publish_in_layout(&store, layout, Statement::Stated).await;
        for day in 1..=5 {
            import_after_days(&store, day, &foreign).await;
        }
        let names = versions(&store).await;
        assert_eq!(names.len(), 1 + 3 + 1, "{names:?}");
        assert_eq!(*names.last().unwrap(), foreign.version.to_string());
        assert_eq!(store.snapshot(&foreign).await.unwrap()[0], layout);
    }
}

#[tokio::test]
async fn an_import_is_compared_with_the_newest_version_that_it_reads_and_says_so() {
    for (layout, statement) in foreign_versions() {
        let service = Service::with_small_reports().await;
        let store = service.database.store();
        let foreign = publish_in_layout(&store, layout, statement).await;
        let report = import(&store, &ReportTexts::first(), Options::default()).await.unwrap();
        assert_eq!(report.outcome, Outcome::Published, "the current version is not this one");
        assert_eq!(report.items.written, 0);
        let warning =
            &report.warnings["a version in another layout is passed over and stays retained"];
        assert!(warning.examples[0].contains(&format!("has the layout {layout}")), "{warning:?}");
        assert!(versions(&store).await.contains(&foreign.version.to_string()));
    }
}

#[tokio::test]
async fn the_first_import_of_a_release_says_that_no_gate_could_compare() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    publish_in_layout(&store, FOREIGN_LAYOUTS[0], Statement::Stated).await;
    only_foreign_versions(&store).await;
    assert_eq!(service.answer("/v1/npa/415").await.0, StatusCode::SERVICE_UNAVAILABLE);
    let report = import(&store, &ReportTexts::first(), Options::default()).await.unwrap();
    let warning = "no version can be read, so the gates had nothing to compare with";
    assert!(report.warnings.contains_key(warning), "{:?}", report.warnings);
    let service = service.restarted().await;
    assert_eq!(service.answer("/v1/npa/415").await.0, StatusCode::OK);
    assert_eq!(verify(&store, Repair::No, None, |_| ()).await.unwrap().drift.total(), 0);
}

/// Drops the versions that this release reads from the manifest.
async fn only_foreign_versions(store: &Store) {
    let manifest = store.manifest().await.unwrap().unwrap();
    let foreign = manifest.current.clone();
    let alone = Manifest::following(None, foreign, |_| false);
    store.publish(&alone, &manifest.revision).await.unwrap();
}

#[tokio::test]
async fn a_release_without_a_version_that_it_reads_answers_503_and_is_degraded() {
    for (layout, statement) in foreign_versions() {
        let service = Service::with_small_reports().await;
        let store = service.database.store();
        publish_in_layout(&store, layout, statement).await;
        only_foreign_versions(&store).await;
        let service = service.restarted().await;
        for path in ["/v1/npa/415", "/v1/npa/415/nxx/234", "/v1/carriers"] {
            assert_eq!(service.answer(path).await.0, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        }
        assert_eq!(health(&service).await, expected_health(statement));
        let error = rollback(&store, Options::default(), |_| ()).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no older version to go back to");
    }
}

#[tokio::test]
async fn a_rollback_passes_over_versions_in_another_layout_and_keeps_them() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let first = versions(&store).await.remove(0);
    let foreign = publish_in_layout(&store, FOREIGN_LAYOUTS[1], Statement::Stated).await;
    import(&store, &ReportTexts::second(), without_gates()).await.unwrap();
    let report = rollback(&store, Options::default(), |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    assert_eq!(versions(&store).await, [first, foreign.version.to_string()]);
    let warning = &report.warnings["a version in another layout is passed over and stays retained"];
    assert_eq!(warning.examples, [foreign.version.to_string()]);
}

#[tokio::test]
async fn a_rollback_to_a_version_in_another_layout_is_refused() {
    for (layout, statement) in foreign_versions() {
        let service = Service::with_small_reports().await;
        let store = service.database.store();
        let foreign = publish_in_layout(&store, layout, statement).await;
        only_foreign_versions(&store).await;
        import(&store, &ReportTexts::second(), without_gates()).await.unwrap();
        let before = versions(&store).await;
        let error = rollback(&store, Options::default(), |_| ()).await.unwrap_err();
        let message = with_causes(&error);
        assert!(message.contains(foreign.version.as_str()), "{message}");
        let advice =
            ["roll back with the release that imported it", "use the release that made it"];
        assert!(advice.iter().any(|advice| message.contains(advice)), "{message}");
        assert_eq!(versions(&store).await, before);
    }
}

#[tokio::test]
async fn a_verification_of_a_version_in_another_layout_is_refused_and_repairs_nothing() {
    for (layout, statement) in foreign_versions() {
        let service = Service::with_small_reports().await;
        let store = service.database.store();
        publish_in_layout(&store, layout, statement).await;
        let error = verify(&store, Repair::Yes, None, |_| ()).await.unwrap_err();
        let message = with_causes(&error);
        let expected = format!("has the layout {layout}, and this release reads");
        assert!(message.contains(&expected), "{message}");
        assert_eq!(answers(&service).await, answers(&service.restarted().await).await);
    }
}

#[tokio::test]
async fn a_client_that_pages_through_a_version_in_another_layout_is_asked_to_begin_anew() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let foreign = publish_in_layout(&store, FOREIGN_LAYOUTS[1], Statement::Stated).await;
    let path = format!("/v1/npa/415?limit=5&offset=5&version={}", foreign.version);
    let (status, body) = service.answer(&path).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let message = body["message"].as_str().unwrap();
    assert!(message.ends_with("restart pagination without the version parameter"), "{message}");
}

/// The whole procedure: an import by the new release, a nightly import by the old one in between, the
/// deployment of the new one, and the way back.
#[tokio::test]
async fn an_upgrade_across_layouts_and_back_never_leaves_a_container_without_data() {
    let old = Service::with_small_reports().await;
    let endpoint = endpoint_of_other_release(old.database.endpoint()).await;
    let (old_store, new_store) =
        (old.database.store(), Store::at_emulator(&endpoint, TimeoutProfile::Batch));
    let before = answers(&old).await;
    let import_by = async |store: &Store, texts: ReportTexts| {
        ingest(store, &texts.sources(), without_gates(), |_| ()).await.unwrap()
    };

    import_by(&new_store, ReportTexts::first()).await;
    let old = old.restarted().await;
    assert_eq!(answers(&old).await, before, "containers of the old release that start");
    let new = Service::on(Database::at(endpoint).await.unwrap()).await;
    assert_eq!(answers(&new).await, before, "containers of the new release");
    assert_eq!((health(&old).await, health(&new).await), ("degraded".into(), "healthy".into()));

    let nightly = import_by(&old_store, ReportTexts::second()).await;
    assert_eq!(nightly.outcome, Outcome::Published);
    let old = old.restarted().await;
    let with_nightly = answers(&old).await;
    assert_ne!(with_nightly, before);
    let new = new.restarted().await;
    assert_eq!(answers(&new).await, before, "the new release goes on with its own version");
    assert_eq!((health(&old).await, health(&new).await), ("healthy".into(), "degraded".into()));

    import_by(&new_store, ReportTexts::second()).await;
    let new = new.restarted().await;
    assert_eq!(answers(&new).await, with_nightly, "the import after the deployment");
    let old = old.restarted().await;
    assert_eq!(
        answers(&old).await,
        with_nightly,
        "the old release, brought back without an import"
    );
    import_by(&old_store, ReportTexts::third()).await;
    assert_eq!(health(&old.restarted().await).await, "healthy");
}
