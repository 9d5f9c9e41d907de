//! Route tests with a small dataset.

use insta::assert_snapshot;
use numbering::{
    records::{Record, Status},
    time::this_second,
};
use serde_json::json;
use test_api::{TestApi, app_with_history, changed_dataset, header};

use super::routes;

#[tokio::test]
async fn filters_select_carriers_ignoring_case() {
    TestApi::new(routes()).assert_lists(include_str!("listed.txt")).await;
}

#[tokio::test]
async fn carrier_matches_its_list_row_and_adds_exchange_counts() {
    let api = TestApi::new(routes());
    let list = api.ok("/v1/carriers").await;
    for row in list["carriers"].as_array().unwrap() {
        let path = format!("/v1/carrier/{}", row["ocn"].as_str().unwrap().to_lowercase());
        let mut carrier = api.ok(&path).await;
        assert_eq!(api.ok(&path.replace("r/", "r?ocn=")).await, carrier);
        carrier.as_object_mut().unwrap().remove("exchanges").unwrap();
        assert_eq!(&carrier, row);
    }
    let exchanges = api.ok("/v1/carrier/9740").await["exchanges"].clone();
    assert_eq!(exchanges, json!({ "total": 3, "by_state": { "CA": 2 } }));
}

#[tokio::test]
async fn json_and_csv_lists_have_the_same_rows_and_version() {
    let api = TestApi::new(routes());
    for name in ["carriers", "holders"] {
        api.assert_csv_agrees_with_json(&format!("/v1/{name}?limit=3"), name).await;
        let file = api.get(&format!("/v1/{name}?format=CSV&limit=1"), &[]).await;
        let link = header(&file.headers, "link");
        assert!(
            link.contains("format=CSV") && link.contains("&version=19700101T000000Z-"),
            "{link}"
        );
    }
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    assert_snapshot!(api.rejections(include_str!("rejected.txt").lines()).await);
}

/// Unassigned exchanges in the data also have a company, which must not count.
#[tokio::test]
async fn holders_count_only_assigned_exchanges() {
    let dataset = changed_dataset(|record| {
        if let Record::Exchange(exchange) = record
            && exchange.status != Status::Assigned
        {
            exchange.company_name = Some("RESERVED FOR NOBODY".to_owned());
        }
    });
    let app = app_with_history(this_second(), vec![dataset]).await.app;
    let api = TestApi::on(routes(), app);
    let all_415 = "PACIFIC BELL 2 0, T-MOBILE USA, INC. 1 1, SMALL TOWN TELEPHONE 1 0";
    for (query, expected) in [
        ("npa=415", all_415),
        ("npa=415&limit=1", "PACIFIC BELL 2 0"),
        ("state=on", "ROGERS COMMUNICATIONS CANADA INC. 1 0"),
        ("rate_center=sausalito&npa=415", "T-MOBILE USA, INC. 1 0"),
        ("npa=999", ""),
    ] {
        let list = api.ok(&format!("/v1/holders?{query}")).await;
        let holders = list["holders"].as_array().unwrap().iter().map(|holder| {
            let name = holder["company_name"].as_str().unwrap_or("-");
            format!("{name} {} {}", holder["exchanges"], holder["blocks"])
        });
        assert_eq!(holders.collect::<Vec<_>>().join(", "), expected, "{query}");
    }
}
