//! Route tests with a small dataset.

use insta::assert_snapshot;
use numbering::{
    records::{Record, Status},
    time::this_second,
};
use serde_json::{Value, json};
use test_api::{TestApi, app_with_history, changed_dataset, header};

use super::routes;

fn ocns(list: &Value) -> Vec<&str> {
    list["carriers"].as_array().unwrap().iter().map(|it| it["ocn"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn filters_select_carriers_ignoring_case() {
    let api = TestApi::new(routes());
    for (query, expected) in [
        ("", &["508J", "6529", "8821", "9740"][..]),
        ("?country=ca", &["8821"]),
        ("?state=ca", &["6529", "9740"]),
        ("?type=wireless", &["8821"]),
        ("?q=CALIF", &["9740"]),
        ("?q=508j", &["508J"]),
        ("?q=pacific&country=US&state=ON", &[]),
        ("?offset=1&limit=2", &["6529", "8821"]),
    ] {
        let list = api.ok(&format!("/v1/carriers{query}")).await;
        assert_eq!(ocns(&list), expected, "{query}");
    }
}

#[tokio::test]
async fn a_carrier_equals_its_list_row_plus_exchange_counts() {
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
async fn csv_lists_are_attachments_with_the_same_rows_as_json() {
    let api = TestApi::new(routes());
    api.assert_csv_agrees_with_json("/v1/carriers?limit=3", "carriers").await;
    let file = api.get("/v1/carriers?format=CSV&limit=1", &[]).await;
    assert_eq!(
        header(&file.headers, "content-disposition"),
        "attachment; filename=\"carriers.csv\""
    );
    assert!(header(&file.headers, "link").contains("format=CSV"));
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/carrier?ocn=AB-1",
        "/v1/carrier/%C3%A9123",
        "/v1/carrier/%FF",
        "/v1/carrier?ocn=",
        "/v1/carrier/9999",
        "/v1/carriers?version=19700101T000000Z-0123456789abcdef",
        "/v1/carriers?limit=1&limit=2",
    ]);
    assert_snapshot!(errors.await);
}

#[tokio::test]
async fn holders_are_counted_in_a_place_with_the_most_exchanges_first() {
    let api = TestApi::new(routes());
    let holders = async |query: &str| {
        let list = api.ok(&format!("/v1/holders?{query}")).await;
        let holders = list["holders"].as_array().unwrap().iter().map(|holder| {
            let name = holder["company_name"].as_str().unwrap_or("-");
            format!("{name} {} {}", holder["exchanges"], holder["blocks"])
        });
        holders.collect::<Vec<_>>().join(", ")
    };
    let all_415 = "PACIFIC BELL 2 0, T-MOBILE USA, INC. 1 1, SMALL TOWN TELEPHONE 1 0";
    assert_eq!(holders("npa=415").await, all_415);
    assert_eq!(holders("npa=415&limit=1").await, "PACIFIC BELL 2 0");
    assert_eq!(holders("state=on").await, "ROGERS COMMUNICATIONS CANADA INC. 1 0");
    assert_eq!(holders("rate_center=sausalito&npa=415").await, "T-MOBILE USA, INC. 1 0");
    assert_eq!(holders("npa=999").await, "");
    api.assert_csv_agrees_with_json("/v1/holders", "holders").await;
}

#[tokio::test]
async fn only_assigned_exchanges_count_for_their_holder() {
    let dataset = changed_dataset(|records| {
        for record in records {
            if let Record::Exchange(exchange) = record
                && exchange.status != Status::Assigned
            {
                exchange.company_name = Some("RESERVED FOR NOBODY".to_owned());
            }
        }
    });
    let app = app_with_history(this_second(), vec![dataset]).await.app;
    let holders = TestApi::on(routes(), app).ok("/v1/holders").await.to_string();
    assert!(holders.contains("PACIFIC BELL") && !holders.contains("NOBODY"), "{holders}");
}

#[tokio::test]
async fn pages_of_holders_stay_on_one_version() {
    let page = TestApi::new(routes()).get("/v1/holders?limit=1", &[]).await;
    assert!(header(&page.headers, "link").contains("&version=19700101T000000Z-"), "{page:?}");
}
