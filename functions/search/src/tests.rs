//! Route tests with a small dataset.

use insta::assert_snapshot;
use test_api::TestApi;

use super::routes;

/// A block's holder counts once the assignment is effective.
#[tokio::test]
async fn each_filter_selects_exchanges_ignoring_case() {
    TestApi::new(routes()).assert_lists(include_str!("listed.txt")).await;
}

#[tokio::test]
async fn csv_results_have_the_same_rows_as_json() {
    let api = TestApi::new(routes());
    for target in ["/v1/search?country=US", "/v1/search?country=US&include=common_name"] {
        api.assert_csv_agrees_with_json(target, "results").await;
    }
}

#[tokio::test]
async fn errors_state_the_rule_and_the_value() {
    let api = TestApi::new(routes());
    assert_snapshot!(api.rejections(include_str!("rejected.txt").lines()).await);
}
