//! `GET /v1/format` and `/v1/lookup`. The sample requests show complete responses.

use std::fmt::Write;

use serde_json::json;

use crate::support::service::shared_service;

/// Fields that differ between kinds of numbers.
const FIELDS: &str = "valid,possible,input,country,type,extension,isNonGeographic,location,\
                      carrier.ocn,flags.country.name,flags.state.name,reason.code";

/// Numbers as they appear in a path, by kind.
const NUMBERS: [(&str, &[&str]); 10] = [
    (
        "A territory is its own country, with its state flag",
        &["+16712025678", "+16842545678", "+17872345678", "+13402055678", "+16702345678"],
    ),
    ("A Caribbean number has a country but no state", &["+18765551234?defaultCountry=CA"]),
    (
        "A service number has no carrier or rate center",
        &[
            "18003569377",
            "+16002012345",
            "+16222012345",
            "+16332012345",
            "+13055551234",
            "+13054112345",
            "+19072112345",
            "+15002345678",
            "+19002345678",
        ],
    ),
    (
        "A toll-free code that is not in use yet is non-geographic",
        &["+18802345678", "+18812345678", "+18822345678", "+18862345678", "+18872345678"],
    ),
    ("In an unknown exchange, the location is the area code's", &["+18022225678"]),
    (
        "Validity is Google's pattern: some numbers in use are not valid, and some in reserved or unassigned exchanges are",
        &["+15382345678", "+17102345678", "+12129111234", "+14166765678"],
    ),
    (
        "An extension is returned",
        &["3052345678x5", "305-234-5678%20ext.%205", "tel:+1-305-234-5678;ext=5"],
    ),
    (
        "The default country applies to numbers without a country code",
        &[
            "020%207946%200958?defaultCountry=gb",
            "%2B442079460958?defaultCountry=aq",
            "2079460958?defaultCountry=AQ",
        ],
    ),
    (
        "An invalid number has a reason",
        &["305%20234", "234-5678", "+999%20305%20234", "5.55E%2B09", "%20", "hello", "%FF%FE"],
    ),
    ("A slash is part of a number", &["305/234/5678/"]),
];

#[tokio::test]
async fn every_kind_of_number_has_the_expected_fields() {
    let mut responses = String::new();
    for (kind, numbers) in NUMBERS {
        writeln!(responses, "# {kind}").unwrap();
        for number in numbers {
            let separator = if number.contains('?') { '&' } else { '?' };
            let target = format!("/v1/format/{number}{separator}fields={FIELDS}");
            writeln!(responses, "{number}\n  {}", shared_service().ok(&target).await).unwrap();
        }
    }
    // Separate from the sample request snapshots, which are part of the program.
    insta::with_settings!({ snapshot_path => "tables" }, { insta::assert_snapshot!(responses) });
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
