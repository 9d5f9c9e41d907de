//! `GET /v1/format` and `/v1/lookup`. The sample requests show complete responses.

use serde_json::json;

use crate::support::service::shared_service;

#[tokio::test]
async fn a_path_may_have_any_characters() {
    for (path, input) in [
        ("305/234/5678/", "+13052345678"),
        ("305-234-5678%20ext.%205", "+13052345678"),
        ("%2B442079460958", "+442079460958"),
        ("%20", ""),
        ("%FF%FE", "\u{fffd}\u{fffd}"),
    ] {
        let result = shared_service().ok(&format!("/v1/format/{path}")).await;
        assert_eq!(result["input"], input, "{path}");
    }
}

#[tokio::test]
async fn us_territories_belong_to_the_us_in_the_numbering_data() {
    let service = shared_service();
    let area_code = service.ok("/v1/npa/340").await;
    let carriers = service.ok("/v1/carriers?state=VI").await;
    let exchanges = service.ok("/v1/search?state=VI").await;
    for record in [&area_code, &carriers["carriers"][0], &exchanges["results"][0]] {
        assert_eq!((&record["country"], &record["state"]), (&json!("US"), &json!("VI")));
    }
}
