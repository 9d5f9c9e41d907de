//! The routes on a small dataset in memory, whose database cannot be reached.

use insta::assert_json_snapshot;
use test_api::{TestApi, header};

use super::routes;

#[tokio::test]
async fn health_is_degraded_and_uncached_while_only_memory_answers() {
    let api = TestApi::new(routes());
    let health = api.get("/health", &[]).await;
    assert_eq!(header(&health.headers, "cache-control"), "no-store");
    let health = api.ok("/health").await;
    assert_eq!(api.ok("/v1/health").await, health);
    assert_json_snapshot!(health, @r#"
    {
      "status": "degraded",
      "database": "error",
      "last_ingestion": "1970-01-01T00:00:00Z",
      "version": "0.1.0"
    }
    "#);
}

#[tokio::test]
async fn statistics_count_the_records_in_memory() {
    let api = TestApi::new(routes());
    assert_json_snapshot!(api.ok("/v1/stats").await, @r#"
    {
      "total_records": 9,
      "by_country": {
        "CA": 2,
        "US": 7
      },
      "by_status": {
        "ASSIGNED": 7,
        "RESERVED": 1,
        "UNASSIGNED": 1
      },
      "last_updated": {
        "NANPA": "1970-01-01T00:00:00Z",
        "CNAC": "1970-01-01T00:00:00Z"
      },
      "coverage": {
        "area_codes": 3,
        "states_provinces": 2
      }
    }
    "#);
    let by_both_paths = [api.get("/stats", &[]).await, api.get("/v1/stats", &[]).await];
    for stats in by_both_paths {
        assert!(header(&stats.headers, "x-data-version").starts_with("19700101T000000Z-"));
        assert_eq!(header(&stats.headers, "x-numbering-data"), "", "it is not the sample");
    }
}
