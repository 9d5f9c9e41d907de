//! Route tests with a small dataset.

use insta::assert_snapshot;
use serde_json::{Value, json};
use test_api::{TestApi, header};

use super::routes;

#[tokio::test]
async fn an_area_code_lists_its_exchanges_with_their_assigned_holders() {
    let page = TestApi::new(routes()).ok("/v1/npa/415?offset=3&limit=2").await;
    let expected = json!({
        "npa": "415", "state": "CA", "country": "US", "total_exchanges": 5,
        "exchanges": [
            { "nxx": "203", "ocn": null, "company_name": null, "rate_center": null, "status": "UNASSIGNED" },
            {
                "nxx": "204", "ocn": null, "company_name": "SMALL TOWN TELEPHONE",
                "rate_center": "MILL VALLEY", "status": "ASSIGNED"
            }
        ],
        "pagination": { "limit": 2, "offset": 3, "total": 5 }
    });
    assert_eq!(page, expected);
}

#[tokio::test]
async fn a_non_geographic_area_code_has_no_state() {
    assert_eq!(TestApi::new(routes()).ok("/v1/npa/700").await["state"], Value::Null);
}

#[tokio::test]
async fn an_exchange_is_the_same_by_path_query_and_version() {
    let api = TestApi::new(routes());
    let exchange = api.ok("/v1/npa/416/nxx/234").await;
    assert_eq!(exchange["exchanges"][0]["company_name"], "ROGERS COMMUNICATIONS CANADA INC.");
    assert_eq!(exchange["pagination"]["total"], 1);
    let page = api.get("/v1/npa/416?limit=1", &[]).await;
    let (_, version) = header(&page.headers, "link").split_once("version=").unwrap();
    let version = version.split(['&', '>']).next().unwrap();
    for target in [
        "/v1/npa?npa=416&nxx=234".to_owned(),
        "/v1/npa/416?nxx=234".to_owned(),
        format!("/v1/npa/416?nxx=234&version={version}"),
    ] {
        assert_eq!(api.ok(&target).await, exchange, "{target}");
    }
    let past_end = api.ok("/v1/npa/416/nxx/234?offset=9007199254740991").await;
    assert_eq!(past_end["exchanges"].as_array().unwrap().len(), 0);
    assert_eq!(past_end["pagination"]["offset"], 9_007_199_254_740_991_u64);
    assert_eq!(past_end["pagination"]["total"], 1);
}

#[tokio::test]
async fn csv_lists_are_attachments_with_the_same_rows_as_json() {
    let api = TestApi::new(routes());
    for target in ["/v1/npa/415?limit=2&offset=3", "/v1/npa?npa=416&nxx=234", "/v1/npa/700/nxx/200"]
    {
        api.assert_csv_agrees_with_json(target, "exchanges").await;
    }
    let file = api.get("/v1/npa/415?format=CSV&limit=1", &[("accept", "application/json")]).await;
    let disposition = header(&file.headers, "content-disposition");
    assert_eq!(disposition, "attachment; filename=\"npa-415.csv\"");
    assert!(header(&file.headers, "link").contains("format=CSV"));
    // Errors are JSON.
    let missing = api.get("/v1/npa/999", &[("accept", "text/csv")]).await;
    assert_eq!(header(&missing.headers, "content-type"), "application/json");
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/npa",
        "/v1/npa?npa=abc",
        "/v1/npa?npa=",
        "/v1/npa/4%FF5",
        "/v1/npa/4155/nxx/234",
        "/v1/npa/415/nxx/23",
        "/v1/npa/415?nxx=23",
        "/v1/npa/876",
        "/v1/npa/415?nxx=111",
        "/v1/npa?npa=415&nxx=111",
        "/v1/npa/415?limit=0",
        "/v1/npa/415?version=x",
        "/v1/npa/415?format=xml",
        "/v1/npa/415/nxx/234?limit=ten",
        "/v1/npa?npa=415&offset=-1",
        "/v1/npa?npa=416&nxx=234&version=x",
        "/v1/npa/416?nxx=234&version=19700101T000000Z-0123456789abcdef",
        "/v1/npa/415/nxx",
        "/v1/npa/415/nxx/",
    ]);
    assert_snapshot!(errors.await);
}
