use serde_json::{Value, json};

use crate::service::{fields, shared_service};

#[tokio::test]
async fn a_us_number_has_every_part() {
    let body = shared_service().ok("/v1/format/+13052345678").await;
    assert_eq!(
        fields(&body),
        [
            "valid",
            "possible",
            "input",
            "countryCode",
            "countryCallingCode",
            "country",
            "nationalNumber",
            "npa",
            "nxx",
            "nxxx",
            "formats",
            "type",
            "typeDescription",
            "location",
            "carrier",
            "flags",
            "isNonGeographic"
        ]
    );
    insta::assert_json_snapshot!(body);
}

#[tokio::test]
async fn a_canadian_number_has_no_state_flag() {
    let body = shared_service().ok("/v1/format/+14162345678").await;
    assert_eq!(body["country"], "CA");
    assert_eq!(
        body["location"],
        json!({ "rateCenter": "Toronto", "state": "ON", "stateName": "Ontario", "country": "CA", "countryName": "Canada" })
    );
    assert_eq!(fields(&body["flags"]), ["country"]);
}

#[tokio::test]
async fn a_number_abroad_has_no_north_american_parts() {
    let body = shared_service().ok("/v1/format/+442079460958").await;
    for absent in ["npa", "nxx", "nxxx", "carrier", "extension"] {
        assert_eq!(body[absent], Value::Null, "{absent}");
    }
    assert_eq!(body["location"], json!({ "country": "GB", "countryName": "United Kingdom" }));
}

#[tokio::test]
async fn path_and_query_answer_the_same_bytes() {
    let service = shared_service();
    for tn in
        ["+1%20305-234-5678", "(305)%20234-5678", "%2B442079460958", "011442079460958", "hello"]
    {
        let by_path = service.get(&format!("/v1/format/{tn}")).await.bytes().await.unwrap();
        let by_query = service.get(&format!("/v1/format?tn={tn}")).await.bytes().await.unwrap();
        assert_eq!(by_path, by_query, "{tn}");
    }
}

#[tokio::test]
async fn a_plus_in_the_query_stays_a_plus() {
    let service = shared_service();
    assert_eq!(service.ok("/v1/format?tn=+12125551234").await["input"], "+12125551234");
    let abroad = service.ok("/v1/format?tn=+442079460958").await;
    assert_eq!((&abroad["valid"], &abroad["country"]), (&json!(true), &json!("GB")));
}

#[tokio::test]
async fn default_country_reads_a_number_without_a_country_code() {
    let service = shared_service();
    let body = service.ok("/v1/format/020%207946%200958?defaultCountry=gb").await;
    assert_eq!(body["input"], "+442079460958");
    assert_eq!(service.ok("/v1/format/3052345678").await["country"], "US");
}

#[tokio::test]
async fn an_unparseable_number_has_three_fields() {
    let service = shared_service();
    for path in ["/v1/format/hello", "/v1/format?tn=hello", "/v1/format?tn=%20hello%20"] {
        assert_eq!(
            service.ok(path).await,
            json!({ "valid": false, "possible": false, "input": "hello" })
        );
    }
    let long = "1".repeat(5000);
    assert_eq!(service.ok(&format!("/v1/format/{long}")).await["valid"], false);
}

#[tokio::test]
async fn a_toll_free_number_has_no_place_and_no_carrier() {
    let body = shared_service().ok("/v1/format/18003569377").await;
    assert_eq!(
        (&body["type"], &body["typeDescription"]),
        (&json!("TOLL_FREE"), &json!("Toll-Free"))
    );
    assert_eq!(body["isNonGeographic"], true);
    assert_eq!(body["carrier"], Value::Null);
    assert_eq!(body["location"], json!({ "country": "US", "countryName": "United States" }));
}

#[tokio::test]
async fn a_number_in_an_unknown_exchange_has_its_area_codes_place() {
    let body = shared_service().ok("/v1/format/+18022225678").await;
    assert_eq!(body["carrier"], Value::Null);
    assert_eq!(
        body["location"],
        json!({ "state": "VT", "stateName": "Vermont", "country": "US", "countryName": "United States" })
    );
}

#[tokio::test]
async fn without_the_cache_the_answer_is_the_same() {
    let service = shared_service();
    let cached = service.ok("/v1/format/+13052345678").await;
    for cache in ["false", "FALSE", "true"] {
        assert_eq!(service.ok(&format!("/v1/format/+13052345678?cache={cache}")).await, cached);
    }
}

#[tokio::test]
async fn format_errors() {
    let service = shared_service();
    let usage = "tn is required. Usage: /v1/format?tn=<NUMBER>";
    for path in ["/v1/format", "/v1/format?tn="] {
        service.assert_error(path, 400, "invalid_request", usage).await;
    }
    for path in ["/v1/format/3052345678?defaultCountry=UK", "/v1/format?tn=1&defaultCountry=UK"] {
        let message = "Invalid defaultCountry 'UK': not an ISO 3166-1 alpha-2 country code";
        service.assert_error(path, 400, "Bad Request", message).await;
    }
}
