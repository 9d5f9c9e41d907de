//! Tests the routes with a small dataset in memory and an unreachable database.

use jiff::SignedDuration;
use numbering::{dataset::Dataset, time::this_second};
use store::HistoryCache;
use test_api::{AppWithHistory, TestApi, app_with_history, header, small_dataset};

use super::routes;

#[tokio::test]
async fn health_is_degraded_if_a_publication_or_the_keys_are_missing() {
    let start = this_second() - SignedDuration::from_hours(24 * 4);
    let versions = vec![Dataset::default(), small_dataset()];
    let AppWithHistory { mut app, table, manifest, .. } = app_with_history(start, versions).await;
    let assert_health = async |app: &shared::state::App, expected: [&str; 2]| {
        let health = TestApi::on(routes(), app.clone()).ok("/health").await;
        assert_eq!(["status", "database"].map(|field| health[field].as_str().unwrap()), expected);
    };
    assert_health(&app, ["healthy", "connected"]).await;
    let mut without_keys = app.clone();
    without_keys.keys = test_api::app().keys;
    assert_health(&without_keys, ["degraded", "error"]).await;
    table.remove("publications", manifest.publication.id.as_str());
    app.history_cache = HistoryCache::new(app.store.clone()).into();
    assert_health(&app, ["degraded", "connected"]).await;
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
