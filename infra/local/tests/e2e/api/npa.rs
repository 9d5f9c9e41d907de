//! `/v1/npa`.

use serde_json::json;

use crate::support::service::{fields, shared_service};

#[tokio::test]
async fn an_area_code_lists_its_exchanges_in_order() {
    let body = shared_service().ok("/v1/npa/415?limit=100").await;
    assert_eq!(
        fields(&body),
        ["npa", "state", "country", "total_exchanges", "exchanges", "pagination"]
    );
    assert_eq!(
        (&body["npa"], &body["state"], &body["country"]),
        (&json!("415"), &json!("CA"), &json!("US"))
    );
    assert_eq!(body["total_exchanges"], body["pagination"]["total"]);
    let exchanges = body["exchanges"].as_array().unwrap();
    assert_eq!(exchanges.len(), 100);
    assert!(exchanges.is_sorted_by_key(|exchange| exchange["nxx"].as_str().unwrap()));
    for exchange in exchanges {
        assert_eq!(fields(exchange), ["nxx", "ocn", "company_name", "rate_center", "status"]);
    }
}

#[tokio::test]
async fn the_sample_has_every_state_territory_and_province() {
    let service = shared_service();
    let places = [
        ("205", "AL"),
        ("907", "AK"),
        ("684", "AS"),
        ("602", "AZ"),
        ("501", "AR"),
        ("415", "CA"),
        ("303", "CO"),
        ("203", "CT"),
        ("302", "DE"),
        ("202", "DC"),
        ("305", "FL"),
        ("404", "GA"),
        ("671", "GU"),
        ("808", "HI"),
        ("208", "ID"),
        ("312", "IL"),
        ("317", "IN"),
        ("515", "IA"),
        ("316", "KS"),
        ("502", "KY"),
        ("504", "LA"),
        ("207", "ME"),
        ("301", "MD"),
        ("617", "MA"),
        ("313", "MI"),
        ("612", "MN"),
        ("601", "MS"),
        ("314", "MO"),
        ("406", "MT"),
        ("402", "NE"),
        ("702", "NV"),
        ("603", "NH"),
        ("201", "NJ"),
        ("505", "NM"),
        ("212", "NY"),
        ("919", "NC"),
        ("701", "ND"),
        ("670", "MP"),
        ("614", "OH"),
        ("405", "OK"),
        ("503", "OR"),
        ("215", "PA"),
        ("787", "PR"),
        ("401", "RI"),
        ("803", "SC"),
        ("605", "SD"),
        ("615", "TN"),
        ("214", "TX"),
        ("801", "UT"),
        ("802", "VT"),
        ("804", "VA"),
        ("340", "VI"),
        ("206", "WA"),
        ("304", "WV"),
        ("414", "WI"),
        ("307", "WY"),
        ("403", "AB"),
        ("604", "BC"),
        ("204", "MB"),
        ("506", "NB"),
        ("709", "NL"),
        ("416", "ON"),
        ("514", "QC"),
        ("306", "SK"),
    ];
    for (npa, state) in places {
        let body = service.ok(&format!("/v1/npa/{npa}?limit=1")).await;
        assert_eq!(body["state"], state, "{npa}");
        assert_ne!(body["total_exchanges"], 0, "{npa}");
    }
    for state in ["NS", "PE", "NT", "NU", "YT"] {
        let body = service.ok(&format!("/v1/search?state={state}&limit=1")).await;
        assert_ne!(body["pagination"]["total"], 0, "{state}");
    }
}

#[tokio::test]
async fn an_exchange_is_the_same_by_path_and_by_query() {
    let service = shared_service();
    let by_path = service.ok("/v1/npa/416/nxx/234").await;
    assert_eq!(by_path["pagination"], json!({ "limit": 50, "offset": 0, "total": 1 }));
    let area_code = service.ok("/v1/npa/416").await;
    assert_eq!(by_path["total_exchanges"], area_code["total_exchanges"]);
    assert_eq!(
        by_path["exchanges"],
        json!([{
            "nxx": "234", "ocn": "6015", "company_name": "Sample Telephone Company of Ontario",
            "rate_center": "Toronto", "status": "ASSIGNED"
        }])
    );
    for path in ["/v1/npa?npa=416&nxx=234", "/v1/npa/416?nxx=234"] {
        assert_eq!(service.ok(path).await, by_path, "{path}");
    }
    assert_eq!(service.ok("/v1/npa?npa=416").await, area_code);
    let beyond = service.ok("/v1/npa/416/nxx/234?offset=1").await;
    assert_eq!((&beyond["exchanges"], &beyond["pagination"]["total"]), (&json!([]), &json!(1)));
}

#[tokio::test]
async fn an_exchange_of_a_version_that_is_gone_is_refused_like_a_list_of_it() {
    let service = shared_service();
    let gone = "20200101T000000Z-0123456789abcdef";
    let message = format!(
        "version '{gone}' is no longer available; restart pagination without the version parameter"
    );
    for path in ["/v1/npa/416?nxx=234", "/v1/npa?npa=416&nxx=234"] {
        let path = format!("{path}&version={gone}");
        service.assert_error(&path, 400, "invalid_request", &message).await;
    }
    let next =
        service.get("/v1/npa/416?limit=1").await.headers()["link"].to_str().unwrap().to_owned();
    let version = next.split("version=").nth(1).unwrap().split('>').next().unwrap();
    let of_version = service.ok(&format!("/v1/npa/416?nxx=234&version={version}")).await;
    assert_eq!(of_version, service.ok("/v1/npa/416/nxx/234").await);
}

#[tokio::test]
async fn an_exchange_without_a_holder_names_none() {
    let body = shared_service().ok("/v1/npa/212/nxx/555").await;
    assert_eq!(
        body["exchanges"],
        json!([{ "nxx": "555", "ocn": null, "company_name": null, "rate_center": null, "status": "RESERVED" }])
    );
}

#[tokio::test]
async fn a_non_geographic_area_code_has_neither_state_nor_exchanges() {
    let body = shared_service().ok("/v1/npa/600").await;
    assert_eq!((&body["state"], &body["country"]), (&json!(null), &json!("CA")));
    assert_eq!((&body["total_exchanges"], &body["exchanges"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn wrong_and_unknown_codes_are_refused_by_name() {
    let service = shared_service();
    let usage = "npa is required. Usage: /v1/npa?npa=<NPA> or /v1/npa?npa=<NPA>&nxx=<NXX>";
    for path in ["/v1/npa", "/v1/npa?nxx=234", "/v1/npa?npa="] {
        service.assert_error(path, 400, "invalid_request", usage).await;
    }
    for given in ["41", "4155", "abc"] {
        let message = format!("npa must be exactly 3 digits, got '{given}'");
        for path in [
            format!("/v1/npa/{given}"),
            format!("/v1/npa?npa={given}"),
            format!("/v1/npa/{given}/nxx/234"),
        ] {
            service.assert_error(&path, 400, "invalid_request", &message).await;
        }
    }
    for path in ["/v1/npa/415/nxx/23", "/v1/npa?npa=415&nxx=23", "/v1/npa/415?nxx=23"] {
        service
            .assert_error(path, 400, "invalid_request", "nxx must be exactly 3 digits, got '23'")
            .await;
    }
    service.assert_error("/v1/npa/999", 404, "not_found", "No data found for NPA 999").await;
    for path in ["/v1/npa/415/nxx/111", "/v1/npa?npa=415&nxx=111", "/v1/npa/415?nxx=111"] {
        service.assert_error(path, 404, "not_found", "No data found for NPA-NXX 415-111").await;
    }
    service.assert_error("/v1/npa/876", 404, "not_found", "No data found for NPA 876").await;
}
