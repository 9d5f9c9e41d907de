//! Exchanges assigned by thousands block.

use ingest::{Options, Sources};
use serde_json::json;

use crate::support::{
    service::Service,
    small_reports::{ReportTexts, source},
};

/// Blocks 5 to 7 of 415-234: one held, one held from the end of the century, one free.
fn sources_with_blocks() -> Sources {
    let blocks = "Region,State,NPA,NXX,X,STATUS,Code Holder,Contaminated (Y or N),Contaminated TNs not Available for Assignment,Rate Center,Block Effective Date,Block Available Date,Assigned To,OCN,Date Assigned\n\
                  W,CA,415,234,5,AS,SAMPLE WIRELESS,N,,MILL VALLEY,01/02/2020,,Block Networks – Inc.,111B,01/01/2020\n\
                  W,CA,415,234,6,AS,SAMPLE WIRELESS,N,,MILL VALLEY,01/01/2099,,Later Networks,222B,01/01/2020\n\
                  W,CA,415,234,7,AV,SAMPLE WIRELESS,N,,SNFC CNTRL,,01/02/2020,,,\n";
    Sources { thousands_blocks: Some(source(blocks)), ..ReportTexts::first().sources() }
}

#[tokio::test]
async fn thousands_blocks_in_effect_name_their_carrier_in_lookups_and_searches() {
    let service = Service::empty().await;
    ingest::ingest(&service.database.store(), &sources_with_blocks(), Options::default(), |_| ())
        .await
        .unwrap();
    let holder = &service.ok("/v1/npa/415/nxx/234").await["exchanges"][0];
    let in_block = service.ok("/v1/format/+14152345678").await;
    assert_eq!(
        in_block["carrier"],
        json!({ "ocn": "111B", "name": "Block Networks – Inc.", "type": null })
    );
    assert_eq!(in_block["location"]["rateCenter"], "MILL VALLEY");
    for other_block in ["+14152346678", "+14152347678", "+14152348678"] {
        let body = service.ok(&format!("/v1/format/{other_block}")).await;
        assert_eq!(body["carrier"]["ocn"], holder["ocn"], "{other_block}");
        assert_eq!(body["location"]["rateCenter"], holder["rate_center"]);
    }
    let block_holder = service.ok("/v1/carrier/111B").await;
    assert_eq!(block_holder["exchanges"]["total"], 0);
    assert_eq!(block_holder["state"], "CA");

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
