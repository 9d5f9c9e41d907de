//! Imports, and the effects of refused ones.

use ingest::{ImportReport, IngestError, Options, Outcome, ReportName, Source, Sources};
use jiff::ToSpan;
use logging::with_causes;
use serde_json::json;
use tnr::data::sample::sample;

use crate::support::{
    service::Service,
    small_reports::{ReportSet, dump, source},
};

async fn import_sources(service: &Service, sources: &Sources) -> Result<ImportReport, IngestError> {
    ingest::ingest(&service.database.store(), sources, Options::default(), |_| ()).await
}

#[tokio::test]
async fn importing_the_same_files_again_writes_nothing_and_adds_no_version() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let before = store.manifest().await.unwrap().unwrap();
    let later = Options { now: before.current.ingested_at + 1.hour(), ..Options::default() };
    let report = ingest::ingest(&store, &sample(), later, |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged);
    assert_eq!((report.items.written, report.items.deleted), (0, 0));
    let after = store.manifest().await.unwrap().unwrap();
    assert_eq!(after.current.version, before.current.version);
    assert_ne!(after.revision, before.revision);
    // It counts as the last successful import, although it added no version.
    assert_eq!(after.current.ingested_at, later.now);
    let health = service.ok("/health").await;
    assert_eq!(health["last_ingestion"], later.now.to_string());
}

#[tokio::test]
async fn truncated_mismatched_and_older_reports_are_refused_without_effect() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let before = dump(&store).await;
    let reports = ReportSet::first();
    let cut = |text: &str, column: usize| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (kept, last) = (lines[..lines.len() / 2].concat(), lines[lines.len() / 2]);
        kept + &last[..column]
    };
    let with = |name, text: &str| reports.sources().with(name, source(text));
    let [nanpa, cnac] = [ReportName::Nanpa, ReportName::Cnac];
    let missing = Source::File("no/such/file".into());
    for (expected, sources) in [
        ("check whether the file is truncated or", with(nanpa, &cut(&reports.nanpa, 20))),
        (" CA exchanges (", with(cnac, &cut(&reports.cnac, 0))),
        ("it is a web page, not a report", with(nanpa, "<!DOCTYPE html>\n<html></html>\n")),
        (
            "the CNAC code status does not look like the expected report: no header",
            with(cnac, &reports.nanpa),
        ),
        ("it is empty", with(ReportName::NpaReport, "")),
        ("damaged or truncated", with(nanpa, "PK\x03\x04\x14\0\0\0")),
        ("no/such/file cannot be read", reports.sources().with(nanpa, missing)),
        ("carriers (", with(ReportName::Carriers, &reports.carriers.replace(",ILEC,", ",CLEC,"))),
        (
            "the CNAC code status is dated 1999-12-31, older than the current data (2000-01-01)",
            with(cnac, &reports.cnac.replace("2000-01-01", "1999-12-31")),
        ),
    ] {
        let reason = match import_sources(&service, &sources).await {
            Err(error) => with_causes(&error),
            Ok(ImportReport { outcome: Outcome::Refused { reason, .. }, .. }) => reason,
            Ok(report) => panic!("{expected}: {report:?}"),
        };
        assert!(reason.contains(expected), "{reason}");
    }
    assert_eq!(dump(&store).await, before);
}

#[tokio::test]
async fn a_service_without_data_serves_the_first_version_at_once() {
    let service = Service::empty().await;
    let (status, body) = service.get_json("/v1/npa/415").await;
    assert_eq!((status.as_u16(), &body["error"]), (503, &json!("service_unavailable")));
    import_sources(&service, &sample()).await.unwrap();
    assert_eq!(service.ok("/v1/npa/415").await["total_exchanges"], 135);
}
