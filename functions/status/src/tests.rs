//! Tests the routes with a small dataset in memory and an unreachable database.

use numbering::time::this_second;
use test_api::{TestApi, app_with_history, header, small_dataset};

use super::routes;

#[tokio::test]
async fn health_is_degraded_without_the_keys() {
    let mut app = app_with_history(this_second(), vec![small_dataset()]).await.app;
    for expected in [["healthy", "connected"], ["degraded", "error"]] {
        let health = TestApi::on(routes(), app.clone()).ok("/health").await;
        assert_eq!(["status", "database"].map(|field| health[field].as_str().unwrap()), expected);
        app.keys = test_api::app().keys;
    }
}

#[tokio::test]
async fn health_is_degraded_and_uncached_while_serving_from_memory() {
    let api = TestApi::new(routes());
    let expected = r#"{"status":"degraded","database":"error","last_ingestion":"1970-01-01T00:00:00Z","version":"0.1.0"}"#;
    for path in ["/health", "/v1/health"] {
        let health = api.get(path, &[]).await;
        assert_eq!(header(&health.headers, "cache-control"), "no-store");
        assert_eq!(health.body, expected);
    }
}

#[tokio::test]
async fn sources_and_statistics_describe_the_version_in_memory() {
    let api = TestApi::new(routes());
    let mut sources = api.ok("/v1/sources").await;
    let version = sources["version"].take();
    insta::assert_snapshot!(format!("{sources:#}\n{:#}", api.ok("/v1/stats").await));
    for path in ["/stats", "/v1/stats"] {
        let stats = api.get(path, &[]).await;
        assert_eq!(header(&stats.headers, "x-data-version"), version);
        assert_eq!(header(&stats.headers, "x-numbering-data"), "", "the data is not sample data");
    }
}
