//! `/v1/format`.

use serde_json::{Value, json};

use crate::support::service::{fields, shared_service};

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
async fn toll_free_codes_that_are_not_in_use_yet_are_non_geographic() {
    let service = shared_service();
    for last_digit in 0..10 {
        let body = service.ok(&format!("/v1/format/+188{last_digit}2345678")).await;
        assert_eq!(body["isNonGeographic"], true, "88{last_digit}");
    }
}

/// Validity is Google's pattern. The status of the exchange is what the lookup tells.
#[tokio::test]
async fn a_number_in_use_may_be_invalid_and_one_in_a_reserved_exchange_valid() {
    let service = shared_service();
    for tn in ["+15382345678", "+17102345678"] {
        let body = service.ok(&format!("/v1/format/{tn}")).await;
        assert_eq!((&body["valid"], &body["possible"]), (&json!(false), &json!(true)), "{tn}");
    }
    assert_eq!(service.ok("/v1/format/+12129111234").await["valid"], true);
}

#[tokio::test]
async fn a_number_as_typed_stands_if_it_is_possible_and_no_reading_is_valid() {
    let body = shared_service().ok("/v1/format/01154960993?defaultCountry=GB").await;
    assert_eq!((&body["input"], &body["valid"]), (&json!("+441154960993"), &json!(false)));
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
async fn a_missing_number_and_an_unknown_country_are_refused() {
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

/// Country, state and rate center of a number, and which flags it has.
fn place(body: &Value) -> (&Value, &Value, &Value, Vec<&str>) {
    let location = &body["location"];
    (&location["country"], &location["state"], &location["rateCenter"], fields(&body["flags"]))
}

#[tokio::test]
async fn a_valid_number_in_an_unassigned_exchange_stays_valid_and_has_no_carrier() {
    let service = shared_service();
    let exchange = &service.ok("/v1/npa/416/nxx/676").await["exchanges"][0];
    assert_eq!(exchange["status"], "UNASSIGNED");
    let body = service.ok("/v1/format/+14166765678").await;
    assert_eq!((&body["valid"], &body["carrier"]), (&json!(true), &Value::Null));
    assert_eq!(body["location"]["state"], "ON");
}

#[tokio::test]
async fn a_territory_is_a_country_of_its_own_with_its_state_flag() {
    let service = shared_service();
    for (tn, code, name) in [
        ("+16712025678", "GU", "Guam"),
        ("+16842545678", "AS", "American Samoa"),
        ("+17872345678", "PR", "Puerto Rico"),
        ("+13406421234", "VI", "U.S. Virgin Islands"),
        ("+16702345678", "MP", "Northern Mariana Islands"),
    ] {
        let body = service.ok(&format!("/v1/format/{tn}")).await;
        assert_eq!((&body["valid"], &body["country"]), (&json!(true), &json!(code)), "{tn}");
        let (country, state, _, flags) = place(&body);
        assert_eq!((country, state), (&json!(code), &json!(code)), "{tn}");
        assert_eq!(body["location"]["countryName"], name);
        assert_eq!(body["location"]["stateName"], name);
        assert_eq!(flags, ["country", "state"], "{tn}");
    }
}

#[tokio::test]
async fn a_caribbean_number_has_a_country_and_no_state() {
    let body = shared_service().ok("/v1/format/+18765551234?defaultCountry=CA").await;
    assert_eq!(
        (&body["npa"], &body["nxx"], &body["nxxx"]),
        (&json!("876"), &json!("555"), &json!("1234"))
    );
    assert_eq!(body["location"], json!({ "country": "JM", "countryName": "Jamaica" }));
    assert_eq!(body["flags"]["country"]["name"], "Jamaica");
    assert_eq!(fields(&body["flags"]), ["country"]);
    assert_eq!(body["carrier"], Value::Null);
}

#[tokio::test]
async fn a_canadian_service_number_has_a_country_and_no_place() {
    for tn in ["+16002012345", "+16222012345", "+16332012345"] {
        let body = shared_service().ok(&format!("/v1/format/{tn}")).await;
        assert_eq!((&body["valid"], &body["country"]), (&json!(true), &json!("CA")), "{tn}");
        assert_eq!(body["location"], json!({ "country": "CA", "countryName": "Canada" }), "{tn}");
        assert_eq!(body["isNonGeographic"], true, "{tn}");
        assert_eq!(body["carrier"], Value::Null, "{tn}");
    }
}

#[tokio::test]
async fn service_codes_get_neither_carrier_nor_rate_center() {
    for tn in [
        "+13055551234",
        "+13054112345",
        "+19072112345",
        "+15002345678",
        "+19002345678",
        "+18882345678",
    ] {
        let body = shared_service().ok(&format!("/v1/format/{tn}")).await;
        assert_eq!(
            (&body["carrier"], place(&body).2),
            (&Value::Null, &Value::Null),
            "{tn}: {body}"
        );
    }
}

#[tokio::test]
async fn the_extension_is_shown_only_where_there_is_one() {
    let service = shared_service();
    for tn in ["3052345678x5", "305-234-5678%20ext.%205", "tel:+1-305-234-5678;ext=5"] {
        let body = service.ok(&format!("/v1/format?tn={tn}")).await;
        assert_eq!(
            (&body["extension"], &body["input"]),
            (&json!("5"), &json!("+13052345678")),
            "{tn}"
        );
    }
    assert!(!fields(&service.ok("/v1/format/3052345678").await).contains(&"extension"));
}

#[tokio::test]
async fn a_country_without_rules_takes_international_numbers() {
    let service = shared_service();
    let abroad = service.ok("/v1/format?tn=%2B442079460958&defaultCountry=aq").await;
    assert_eq!(abroad["country"], "GB");
    let body = service.ok("/v1/format?tn=2079460958&defaultCountry=AQ").await;
    assert_eq!(fields(&body), ["valid", "possible", "input"]);
}

/// What clients write that put a number into a URL as it is, and browsers that only encode spaces.
#[tokio::test]
async fn a_number_in_a_url_that_no_form_wrote_is_the_same_by_path_and_query() {
    let service = shared_service();
    for (written, input) in [
        ("+44%2020%207946%200958%20/%20+1%20305%20234%205678", "+442079460958"),
        ("+49%2030%201234567;%20+1%20212%20234%205678", "+49301234567"),
        ("Tel:%20+44%2020%207946%200958%20or%20+44%2020%207946%200959", "+442079460958"),
        ("%E2%80%AA+442079460958%E2%80%AC", "+442079460958"),
        ("%22+442079460958%22", "+442079460958"),
        ("2.1255512E+09", "2.1255512E+09"),
        ("01%2058801%3B%2001%2058802&defaultCountry=AT", "+43158801"),
    ] {
        let by_query = service.ok(&format!("/v1/format?tn={written}")).await;
        let by_path = service.ok(&format!("/v1/format/{}", written.replace('&', "?"))).await;
        assert_eq!((&by_query["input"], &by_query), (&json!(input), &by_path), "{written}");
    }
}
