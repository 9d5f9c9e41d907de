//! Imports, and the effects of refused ones.

use ingest::{ImportReport, IngestError, Options, Outcome, Source, Sources};
use jiff::ToSpan;
use logging::with_causes;
use serde_json::json;
use tnr::data::sample::sample;

use crate::support::{
    imports::import,
    service::Service,
    small_reports::{ReportTexts, dump, source},
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
    let texts = ReportTexts::first();
    let cut = |text: &str, column: usize| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (whole, last) = (lines[..lines.len() / 2].concat(), lines[lines.len() / 2]);
        whole + &last[..column]
    };
    let as_nanpa = |text: &str| Sources { nanpa: source(text), ..texts.sources() };
    let as_cnac = |text: &str| Sources { cnac: source(text), ..texts.sources() };
    let as_npa_report = |text: &str| Sources { npa_report: source(text), ..texts.sources() };
    let as_overlay = |text: &str| Sources { carriers: Some(source(text)), ..texts.sources() };
    for (expected, sources) in [
        ("check whether the file is cut off or", as_nanpa(&cut(&texts.nanpa, 20))),
        (" CA exchanges (", as_cnac(&cut(&texts.cnac, 0))),
        ("it is a web page, not a report", as_nanpa("<!DOCTYPE html>\n<html></html>\n")),
        ("no header row contains the column(s)", as_cnac(&texts.nanpa)),
        ("it is empty", as_npa_report("")),
        ("damaged or cut off", as_nanpa("PK\x03\x04\x14\0\0\0")),
        (
            "no/such/file cannot be read",
            Sources { nanpa: Source::File("no/such/file".into()), ..texts.sources() },
        ),
        ("carriers (", as_overlay(&texts.carriers.replace(",ILEC,", ",,"))),
        (
            "the CNAC code status is dated 1999-12-31, older than the current data (2000-01-01)",
            as_cnac(&texts.cnac.replace("2000-01-01", "1999-12-31")),
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
    let (status, body) = service.answer("/v1/npa/415").await;
    assert_eq!((status.as_u16(), &body["error"]), (503, &json!("service_unavailable")));
    import_sources(&service, &sample()).await.unwrap();
    assert_eq!(service.ok("/v1/npa/415").await["total_exchanges"], 135);
}

#[tokio::test]
async fn empty_names_are_null_and_companies_without_an_ocn_are_carriers() {
    let service = Service::empty().await;
    let mut texts = ReportTexts::first();
    texts.carriers.push_str("169D,,Trade Name,CLEC,CA,US\n008A,,,IXC,,US\n");
    let row = |nxx: &str, ocn: &str, company: &str| {
        format!("CA\t415-{nxx}\t{ocn}\t{company}\tPLACE\t\tAS\t\t\t\tNo\n")
    };
    let codes = [("986", "", "AT&T CORP."), ("987", "169D", "")];
    texts.nanpa.extend(codes.map(|(nxx, ocn, company)| row(nxx, ocn, company)));
    let store = service.database.store();
    import(&store, &texts, Options::default()).await.unwrap();

    let carrier = service.ok("/v1/format/+14159865555").await["carrier"].clone();
    assert_eq!(carrier, json!({ "name": "AT&T CORP.", "type": null }));
    let unnamed = service.ok("/v1/format/+14159875555").await["carrier"].clone();
    assert_eq!(unnamed, json!({ "ocn": "169D", "name": null, "type": "CLEC" }));
    let detail = service.ok("/v1/carrier/169D").await;
    assert_eq!(
        (&detail["company_name"], &detail["common_name"]),
        (&json!(null), &json!("Trade Name"))
    );
    let (status, _) = service.answer("/v1/carrier/008A").await;
    assert_eq!(status, 404);
    for offset in [0, 100] {
        let page = service.ok(&format!("/v1/carriers?limit=100&offset={offset}")).await;
        let mut carriers = page["carriers"].as_array().unwrap().iter();
        assert!(carriers.all(|carrier| carrier["company_name"] != ""));
    }
}

#[tokio::test]
async fn numbers_in_multi_province_area_codes_do_not_default_to_the_main_province() {
    let service = Service::empty().await;
    let mut texts = ReportTexts::first();
    texts.npa_report.push_str(&area_code_row("867", "NORTHWEST TERRITORIES -YUKON - NUNAVUT"));
    texts.cnac.push_str("867,920,\"In Service\",\"N\",\"Yellowknife\",\"NT\",\"X\",\"464D\",\r\n");
    texts.cnac.push_str("867,921,\"In Service\",\"N\",\"Somewhere\",\"\",\"X\",\"464D\",\r\n");
    let store = service.database.store();
    import(&store, &texts, Options::default()).await.unwrap();
    let state =
        async |tn: &str| service.ok(&format!("/v1/format/{tn}")).await["location"]["state"].clone();
    assert_eq!(state("+18679205555").await, "NT");
    assert_eq!(state("+18679215555").await, json!(null));
    // This exchange is in no report, but 416 lies in a single province.
    assert_eq!(service.answer("/v1/npa/416/nxx/985").await.0, 404);
    assert_eq!(state("+14169855555").await, "ON");
    assert_eq!(service.ok("/v1/npa/867").await["state"], "NT");
}

/// A row of the area code database, in the sample's columns.
fn area_code_row(npa: &str, location: &str) -> String {
    let report = ReportTexts::first().npa_report;
    let row = report.lines().find(|line| line.starts_with("416,")).unwrap();
    format!("{}\n", row.replacen("416", npa, 1).replace("ONTARIO", location))
}
