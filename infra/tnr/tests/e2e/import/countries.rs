//! Tests imports of other countries' ranges, which are independent of each other and of North America.

use std::time::{Duration, Instant};

use ingest::{
    CountrySources, Gate, Options, Outcome, Repair, Source, country_sources, import_countries,
    rollback, verify,
};
use store::{Countries, Store};
use tempfile::TempDir;
use tnr::database::Database;

use crate::support::{
    databases::{self, sample_folder},
    imports::{delete_chunk, import, import_british, responses, without_gates},
    program::{run, stderr},
    service::Service,
    small_reports::{ReportSet, source},
};

/// This many British blocks, allocated on `date`.
fn british_file(blocks: usize, date: &str) -> String {
    let header = "Number Block,Block Status,CP Name,Non Geo Number Length,Allocation Date\n";
    let header = format!("NMS Number Block: {header}");
    (0..blocks).fold(header, |text, block| {
        text + &format!("7000 {block:02},Allocated,Company {block},10 digit numbers,{date}\n")
    })
}

async fn countries(store: &Store) -> Countries {
    store.manifest().await.unwrap().unwrap().countries
}

#[tokio::test]
async fn failed_countries_leave_others_and_north_america_unchanged() {
    let service = Service::with_small_reports().await;
    let (before, store) = (responses(&service).await, service.database.store());
    let british = source(&british_file(20, "01/02/2003"));
    let mut sources = country_sources([], [("GB".parse().unwrap(), british)], None);
    let failed = ["ES", "FR", "RU"];
    for country in failed {
        sources.insert(country.parse().unwrap(), vec![Source::File("missing/file.csv".into())]);
    }
    let options =
        Options { deadline: Some(Instant::now() + Duration::from_secs(600)), ..Options::default() };
    let reports = import_countries(&store, &sources, options, |_| ()).await.unwrap();
    assert_eq!((&reports["GB"].outcome, reports["GB"].ranges), (&Outcome::Published, 20));
    for country in failed {
        let outcome = &reports[country].outcome;
        assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    }
    let imported = countries(&store).await;
    assert_eq!(imported.0.keys().collect::<Vec<_>>(), ["GB"]);
    assert!(responses(&service.restart().await).await == before);
    // North American reports that fail to import leave the ranges unchanged.
    let nothing = ReportSet { nanpa: String::new(), ..ReportSet::second() };
    import(&store, &nothing, Options::default()).await.unwrap_err();
    assert_eq!(countries(&store).await, imported);
}

#[tokio::test]
async fn refused_ranges_change_nothing_unless_the_gate_is_allowed() {
    let store = databases::with_small_reports().await.store();
    import_british(&store, &british_file(20, "01/02/2003"), Options::default()).await;
    let before = countries(&store).await;
    let fewer = british_file(18, "01/02/2003");
    let refused = import_british(&store, &fewer, Options::default()).await.outcome;
    let reason = "10.0% of the assigned numbers are no longer assigned, more than 5%".to_owned();
    let allowed_by = Some(vec![Gate::Losses]);
    assert_eq!(refused, Outcome::Refused { reason, allowed_by });
    assert_eq!(countries(&store).await, before);
    let allowed = Options { allow: [Gate::Losses].into_iter().collect(), ..Options::default() };
    let dry_run = Options { dry_run: true, ..allowed };
    assert_eq!(import_british(&store, &fewer, dry_run).await.outcome, Outcome::Planned);
    assert_eq!(countries(&store).await, before);
    assert_eq!(import_british(&store, &fewer, allowed).await.outcome, Outcome::Published);
    let after = countries(&store).await;
    assert_eq!(store.country("GB", &after.0["GB"]).await.unwrap().ranges.iter().count(), 18);
}

#[tokio::test]
async fn unchanged_ranges_keep_their_version_across_imports_and_rollbacks() {
    let store = databases::with_small_reports().await.store();
    let text = british_file(20, "01/02/2003");
    import_british(&store, &text, Options::default()).await;
    let piece = countries(&store).await.0["GB"].piece.clone();
    let again = import_british(&store, &text, Options::default()).await;
    assert_eq!(again.outcome, Outcome::Unchanged);
    import(&store, &ReportSet::second(), without_gates()).await.unwrap();
    rollback(&store, None, Options::default(), |_| ()).await.unwrap();
    let countries = countries(&store).await;
    assert_eq!(countries.0["GB"].piece, piece);
    store.country("GB", &countries.0["GB"]).await.unwrap();
}

#[tokio::test]
async fn real_data_replaces_the_sample() {
    let store = databases::with_sample().await.store();
    let sample = british_file(20, "01/01/2000");
    import_british(&store, &sample, Options::default()).await;
    assert!(countries(&store).await.0["GB"].is_sample());
    let real = import_british(&store, &british_file(1, "01/02/2003"), Options::default()).await;
    assert_eq!(real.outcome, Outcome::Published, "it is not compared with the sample");
    import_british(&store, &sample, without_gates()).await;
    import(&store, &ReportSet::published(), Options::default()).await.unwrap();
    assert_eq!(countries(&store).await, Countries::default());
}

#[tokio::test]
async fn damaged_ranges_are_reported_and_replaced_by_an_import() {
    let store = databases::with_small_reports().await.store();
    let text = british_file(20, "01/02/2003");
    import_british(&store, &text, Options::default()).await;
    let data = countries(&store).await.0["GB"].clone();
    delete_chunk(&store, &data.piece.version).await;
    let damaged = verify(&store, Repair::Yes, None, |_| ()).await.unwrap();
    assert!(damaged.unreadable_countries["GB"].ends_with("#0000 is missing"), "{damaged:?}");
    assert_eq!(damaged.total_drift(), 1);
    let report = import_british(&store, &text, Options::default()).await;
    assert_eq!(report.outcome, Outcome::Published);
    assert_eq!(verify(&store, Repair::No, None, |_| ()).await.unwrap().total_drift(), 0);
}

#[tokio::test]
async fn concurrent_imports_of_reports_and_ranges_both_take_effect() {
    let store = databases::with_small_reports().await.store();
    let (reports, text) = (ReportSet::second().sources(), british_file(20, "01/02/2003"));
    let none = CountrySources::new();
    let options = without_gates();
    let (first, second) = tokio::join!(
        ingest::import(&store, &reports, &none, options, |_| ()),
        import_british(&store, &text, options),
    );
    assert_eq!(first.unwrap().outcome, Outcome::Published);
    assert_eq!(second.outcome, Outcome::Published);
    let manifest = store.manifest().await.unwrap().unwrap();
    assert_eq!((manifest.publication.number, manifest.countries.0.len()), (1, 1));
}

#[tokio::test]
async fn backups_contain_the_ranges_and_doctor_shows_their_age() {
    let (folder, files) = (sample_folder(), TempDir::new().unwrap());
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("s7.csv"), british_file(20, "01/02/2003")).unwrap();
    let (ranges, backup) = (format!("GB={}", path("s7.csv")), path("backup.sqlite"));
    let restored = TempDir::new().unwrap();
    for (folder, command) in [
        (&folder, ["import", "--ranges", &ranges].as_slice()),
        (&folder, ["backup", &backup].as_slice()),
        (&restored, ["restore", &backup].as_slice()),
    ] {
        let output = run(folder, command);
        assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    }
    let checks = String::from_utf8(run(&restored, &["doctor"]).stdout).unwrap();
    assert!(checks.contains("ranges of GB: more than 45 days old; dated 2003-02-01"), "{checks}");
    let database = Database::embedded(restored.path()).await.unwrap();
    let store = database.store();
    let data = countries(&store).await.0["GB"].clone();
    assert_eq!(store.country("GB", &data).await.unwrap().ranges.iter().count(), 20);
}
