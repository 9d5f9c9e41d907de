//! `/v1/lookup`.

use serde_json::json;

use crate::support::service::{fields, shared_service};

#[tokio::test]
async fn a_number_has_its_block_with_the_names_and_values_of_format() {
    let lookup = shared_service().ok("/v1/lookup/2122345678").await;
    let expected = ["tn", "npa", "nxx", "nxxx", "status", "carrier", "location"];
    assert_eq!(fields(&lookup), expected);
    assert_eq!(lookup["status"], "ASSIGNED");
    let format = shared_service().ok("/v1/format/2122345678").await;
    for field in ["npa", "nxx", "nxxx", "carrier", "location"] {
        assert_eq!(lookup[field], format[field], "{field}");
    }
}

#[tokio::test]
async fn any_notation_of_the_number_gives_the_same_answer() {
    let expected = shared_service().ok("/v1/lookup/4162345678").await;
    assert_eq!(expected["tn"], "4162345678");
    for path in [
        "/v1/lookup?tn=4162345678",
        "/v1/lookup?tn=+14162345678",
        "/v1/lookup?tn=1-416-234-5678",
        "/v1/lookup/(416)%20234-5678",
        "/v1/lookup/416/234/5678",
    ] {
        assert_eq!(shared_service().ok(path).await, expected, "{path}");
    }
}

#[tokio::test]
async fn an_unassigned_exchange_has_a_status_and_no_carrier() {
    let lookup = shared_service().ok("/v1/lookup/2049301234").await;
    assert_eq!((&lookup["status"], &lookup["carrier"]), (&json!("UNASSIGNED"), &json!(null)));
    assert_eq!(lookup["location"]["country"], "CA");
}

#[tokio::test]
async fn a_number_of_another_length_or_plan_is_refused() {
    let service = shared_service();
    let usage = "tn is required. Usage: /v1/lookup?tn=<NUMBER>";
    service.assert_error("/v1/lookup", 400, "invalid_request", usage).await;
    for tn in ["212234", "21223456789", "+442079460958", "hello"] {
        let message = format!("tn must be a 10-digit North American telephone number, got '{tn}'");
        let path = format!("/v1/lookup?tn={tn}");
        service.assert_error(&path, 400, "invalid_request", &message).await;
    }
}

#[tokio::test]
async fn a_block_that_is_not_in_the_data_is_not_found() {
    for (tn, npa_nxx) in [("4151111234", "415-111"), ("8003569377", "800-356")] {
        let message = format!("No data found for NPA-NXX {npa_nxx}");
        let path = format!("/v1/lookup/{tn}");
        shared_service().assert_error(&path, 404, "not_found", &message).await;
    }
}

/// Google's rules know no number in 340-211, and so no country of one.
#[tokio::test]
async fn a_territory_is_a_country_of_its_own_for_numbers_and_part_of_the_us_in_the_numbering_data()
{
    let service = shared_service();
    let of_data = service.ok("/v1/npa/340").await;
    assert_eq!((&of_data["country"], &of_data["state"]), (&json!("US"), &json!("VI")));
    for target in ["/v1/carriers?state=VI", "/v1/search?state=VI"] {
        let list = service.ok(target).await;
        let records = list["carriers"].as_array().or(list["results"].as_array()).unwrap();
        assert!(!records.is_empty(), "{target}");
        for record in records {
            assert_eq!((&record["country"], &record["state"]), (&json!("US"), &json!("VI")));
        }
    }
    for target in ["/v1/format/3402055678", "/v1/lookup/3402055678", "/v1/lookup/3402111234"] {
        let location = &service.ok(target).await["location"];
        assert_eq!((&location["country"], &location["state"]), (&json!("VI"), &json!("VI")));
        assert_eq!(location["countryName"], "U.S. Virgin Islands", "{target}");
    }
    assert_eq!(service.ok("/v1/format/3402111234").await["valid"], false);
}

#[tokio::test]
async fn a_number_with_a_plus_in_the_query_is_that_of_format() {
    let service = shared_service();
    assert_eq!(service.ok("/v1/lookup?tn=+2122345678").await["tn"], "2122345678");
    assert_eq!(service.ok("/v1/lookup?tn=Cell:+212-234-5678").await["tn"], "2122345678");
    // With a plus sign it would be a number of Peru, of which there is nothing to look up.
    let message = "No data found for NPA-NXX 516-607";
    service.assert_error("/v1/lookup?tn=+516-607-4335", 404, "not_found", message).await;
    let message = "tn must be a 10-digit North American telephone number, got '+442079460958'";
    service.assert_error("/v1/lookup?tn=+442079460958", 400, "invalid_request", message).await;
}
