//! Route tests with a small dataset in memory and no reachable database.

use jiff::SignedDuration;
use numbering::{dataset::Dataset, time::this_second};
use store::HistoryCache;
use test_api::{AppWithHistory, TestApi, app_with_history, header, small_dataset};

use super::routes;

#[tokio::test]
async fn health_is_degraded_without_a_publication_or_the_keys() {
    let start = this_second() - SignedDuration::from_hours(24 * 4);
    let versions = vec![Dataset::default(), small_dataset()];
    let AppWithHistory { mut app, table, manifest, .. } = app_with_history(start, versions).await;
    let health = TestApi::on(routes(), app.clone()).ok("/health").await;
    assert_eq!((&health["status"], &health["database"]), (&"healthy".into(), &"connected".into()));
    let mut without_keys = app.clone();
    without_keys.keys = test_api::app().keys;
    let health = TestApi::on(routes(), without_keys).ok("/health").await;
    assert_eq!((&health["status"], &health["database"]), (&"degraded".into(), &"error".into()));
    table.remove("publications", manifest.publication.id.as_str());
    app.history_cache = HistoryCache::new(app.store.clone()).into();
    let health = TestApi::on(routes(), app).ok("/health").await;
    assert_eq!((&health["status"], &health["database"]), (&"degraded".into(), &"connected".into()));
}

#[tokio::test]
async fn health_is_degraded_and_uncached_while_serving_from_memory() {
    let api = TestApi::new(routes());
    let health = api.get("/health", &[]).await;
    assert_eq!(header(&health.headers, "cache-control"), "no-store");
    let health = api.ok("/health").await;
    assert_eq!(api.ok("/v1/health").await, health);
    let expected = r#"{"status":"degraded","database":"error","last_ingestion":"1970-01-01T00:00:00Z","version":"0.1.0"}"#;
    assert_eq!(health.to_string(), expected);
}

#[tokio::test]
async fn sources_list_each_imported_report_and_what_it_cannot_tell() {
    let api = TestApi::new(routes());
    let sources = api.ok("/v1/sources").await;
    let [report] = sources["reports"].as_array().unwrap().as_slice() else { panic!("{sources}") };
    let expected = [
        ("report", "nanpa"),
        ("publisher", "NANPA"),
        ("title", "Utilized central office codes"),
        ("address", "https://a.example/codes.zip"),
        ("read_at", "1970-01-01T00:00:00Z"),
    ];
    for (field, value) in expected {
        assert_eq!(report[field], value, "{field}");
    }
    assert!(report["date"].is_null() && report["rows"] == 0, "{report}");
    assert!(report["cannot_tell"][0].as_str().unwrap().contains("ported"), "{report}");
    assert_eq!(sources["imported_at"], "1970-01-01T00:00:00Z");
}

#[tokio::test]
async fn statistics_count_the_records_in_memory() {
    let api = TestApi::new(routes());
    let expected = concat!(
        r#"{"total_records":9,"by_country":{"CA":2,"US":7},"#,
        r#""by_status":{"ASSIGNED":7,"RESERVED":1,"UNASSIGNED":1},"#,
        r#""last_updated":{"NANPA":"1970-01-01T00:00:00Z","CNAC":"1970-01-01T00:00:00Z"},"#,
        r#""coverage":{"area_codes":3,"states_provinces":2}}"#,
    );
    assert_eq!(api.ok("/v1/stats").await.to_string(), expected);
    for path in ["/stats", "/v1/stats"] {
        let stats = api.get(path, &[]).await;
        assert!(header(&stats.headers, "x-data-version").starts_with("19700101T000000Z-"));
        assert_eq!(header(&stats.headers, "x-numbering-data"), "", "the data is not sample data");
    }
}
