//! Exchanges assigned by thousands block.

use ingest::{Options, Outcome, ReportName, Sources};
use jiff::{SignedDuration, Timestamp};
use numbering::records::Country;
use serde_json::json;

use crate::support::{
    service::Service,
    small_reports::{ReportSet, source},
};

/// Blocks 5 to 7 in 415-234: one assigned, one assigned as of 2099, and one available.
fn sources_with_blocks() -> Sources {
    let blocks = "State,NPA,NXX,X,STATUS,Rate Center,Block Effective Date,Assigned To,OCN\n\
                  CA,415,234,5,AS,MILL VALLEY,01/02/2020,Block Networks – Inc.,111B\n\
                  CA,415,234,6,AS,MILL VALLEY,01/01/2099,Later Networks,222B\n\
                  CA,415,234,7,AV,SNFC CNTRL,,,\n";
    ReportSet::first().sources().with(ReportName::ThousandsBlocks, source(blocks))
}

#[tokio::test]
async fn lookups_and_searches_use_the_carriers_of_thousands_blocks_in_effect() {
    let service = Service::empty().await;
    ingest::ingest(&service.database.store(), &sources_with_blocks(), Options::default(), |_| ())
        .await
        .unwrap();
    let exchange = &service.ok("/v1/npa/415/nxx/234").await["exchanges"][0];
    let in_block = service.ok("/v1/format/+14152345678").await;
    assert_eq!(
        in_block["carrier"],
        json!({ "ocn": "111B", "name": "Block Networks – Inc.", "type": null })
    );
    assert_eq!(in_block["location"]["rateCenter"], "MILL VALLEY");
    for other_block in ["+14152346678", "+14152347678", "+14152348678"] {
        let body = service.ok(&format!("/v1/format/{other_block}")).await;
        assert_eq!(body.get("carrier"), None, "{other_block}");
        assert_eq!(body["location"]["rateCenter"], exchange["rate_center"]);
    }
    let block_carrier = service.ok("/v1/carrier/111B").await;
    assert_eq!(block_carrier["exchanges"]["total"], 0);
    assert_eq!(block_carrier["state"], "CA");

    let found = service.ok("/v1/search?ocn=111b").await;
    assert_eq!(found["pagination"]["total"], 1);
    let result = &found["results"][0];
    assert_eq!((&result["npa"], &result["nxx"]), (&json!("415"), &json!("234")));
    assert_ne!(result["ocn"], "111B");
    for words in ["ocn=111B&q=block+mill", "company=block%20networks%20–%20inc.&npa=415"] {
        assert_eq!(service.ok(&format!("/v1/search?{words}")).await["pagination"]["total"], 1);
    }
    assert_eq!(service.ok("/v1/search?ocn=222B").await["pagination"]["total"], 0);
}

/// Canada's report is new and may change.
#[tokio::test]
async fn an_unreadable_block_report_keeps_the_current_blocks_and_does_not_stop_the_rest() {
    let service = Service::empty().await;
    let store = service.database.store();
    let blocks = "NPA,CO Code (NXX),Block,Status,Block Holder,Block Holder OCN\n\
                  416,234,5,AS,Bloc Ltée,333C\n";
    let readable = sources_with_blocks().with(ReportName::CanadianBlocks, source(blocks));
    let first =
        Options { now: Timestamp::now() - SignedDuration::from_hours(1), ..Options::default() };
    let report = ingest::ingest(&store, &readable, first, |_| ()).await.unwrap();
    assert_eq!(report.unread_block_reports, []);
    let holder = async || service.ok("/v1/format/+14162345678").await["carrier"]["ocn"].clone();
    assert_eq!(holder().await, "333C");

    let renamed = blocks.replace("Block Holder OCN", "Number of the Holder");
    let unreadable = sources_with_blocks().with(ReportName::CanadianBlocks, source(&renamed));
    let report = ingest::ingest(&store, &unreadable, Options::default(), |_| ()).await.unwrap();
    assert_eq!(report.unread_block_reports, [Country::Ca]);
    let kind = "the CNAC block status cannot be read; the current blocks are kept";
    assert!(report.warnings[kind].examples[0].contains("Block Holder OCN"), "{report:?}");
    assert_eq!(holder().await, "333C");
    assert_eq!(service.ok("/v1/format/+14152345678").await["carrier"]["ocn"], "111B");
    // The blocks are still from the first import.
    let sources = service.ok("/v1/sources").await;
    let listed = |name| {
        let reports = sources["reports"].as_array().unwrap();
        reports.iter().find(|report| report["report"] == name).unwrap()
    };
    assert_eq!(listed("canadian_blocks")["counts"]["blocks"], 1);
    assert_eq!(listed("canadian_blocks")["rows"], 1);
    assert!(listed("canadian_blocks")["read_at"].as_str() < listed("nanpa")["read_at"].as_str());

    let strict = Options { strict: true, dry_run: true, ..Options::default() };
    for (sources, expected) in [
        (&readable, "the CNAC block status: missing columns (3)"),
        (&unreadable, "the CNAC block status cannot be read"),
    ] {
        let report = ingest::ingest(&store, sources, strict, |_| ()).await.unwrap();
        let Outcome::Refused { reason, allowed_by: None } = report.outcome else {
            panic!("{report:?}")
        };
        assert!(reason.starts_with(expected), "{reason}");
    }
}
