//! Route tests with a small dataset.

use insta::assert_snapshot;
use serde_json::Value;
use test_api::TestApi;

use super::routes;

fn npa_nxxs(page: &Value) -> Vec<String> {
    let code = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let rows = page["results"].as_array().unwrap();
    rows.iter().map(|row| format!("{}-{}", code(row, "npa"), code(row, "nxx"))).collect()
}

#[tokio::test]
async fn each_filter_selects_exchanges_ignoring_case() {
    let api = TestApi::new(routes());
    for (query, expected) in [
        ("npa=416", &["416-234", "416-235"][..]),
        ("nxx=201", &["415-201", "700-201"]),
        ("ocn=508j", &["700-201"]),
        // A block's holder counts once the assignment is effective.
        ("ocn=6529", &["415-200", "415-201"]),
        ("company=t-mobile%20usa,%20inc", &["415-200", "415-201"]),
        ("company=small%20town%20telephone", &["415-204"]),
        ("rate_center=montreal", &["416-235"]),
        ("rate_center=sausalito", &["415-201"]),
        ("state=on", &["416-234", "416-235"]),
        ("country=ca", &["416-234", "416-235"]),
        ("type=wireless", &["416-234"]),
        ("status=unassigned", &["415-203"]),
        ("status=reserved", &["416-235"]),
        ("q=tmob", &["415-200", "415-201"]),
        ("q=snfc%20pac", &["415-200", "415-202"]),
        ("q=at%26t&npa=700", &["700-200"]),
        ("q=rogers&country=US", &[]),
        ("country=us&limit=2&offset=5", &["700-200", "700-201"]),
    ] {
        let page = api.ok(&format!("/v1/search?{query}")).await;
        assert_eq!(npa_nxxs(&page), expected, "{query}");
    }
}

#[tokio::test]
async fn csv_results_have_the_same_rows_as_json() {
    TestApi::new(routes()).assert_csv_agrees_with_json("/v1/search?country=US", "results").await;
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    let errors = api.rejections([
        "/v1/search",
        "/v1/search?q=",
        "/v1/search?npa=1",
        "/v1/search?nxx=1",
        "/v1/search?ocn=1",
        "/v1/search?rate_center=-",
        "/v1/search?state=ZZ",
        "/v1/search?country=MX",
        "/v1/search?type=MOBILE",
        "/v1/search?status=GONE",
        "/v1/search?q=a&limit=1.5",
        "/v1/search?q=a&offset=99999999999999999999999",
        "/v1/search?q=a&version=x",
        "/v1/search?q=0+1+2+3+4+5+6+7+8+9+10",
    ]);
    assert_snapshot!(errors.await);
}
