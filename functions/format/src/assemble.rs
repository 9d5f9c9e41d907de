//! Assembles results, from numbering data in memory or from records read for them.

use formatting::{DefaultCountry, Languages, PhoneNumber};
use jiff::Timestamp;
use numbering::{dataset::Dataset, time::date_of};

use super::{
    FormatResult,
    block::{BlockRecords, geographic_npa_nxx},
    extras::Facts,
    include::Include,
};

/// The settings shared by all results of a request or file.
#[derive(Debug, Clone, Copy)]
pub struct Assembler<'a> {
    pub include: &'a Include,
    pub languages: &'a Languages,
    /// The base URL of flag images; `None` omits their links.
    pub flags_base_url: Option<&'a str>,
    pub now: Timestamp,
}

impl Assembler<'_> {
    /// Describes text, and the number in it, with numbering data in memory.
    pub fn describe(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
        dataset: Option<&Dataset>,
    ) -> FormatResult {
        let npa_nxx = number.as_ref().and_then(geographic_npa_nxx);
        let records =
            npa_nxx.zip(dataset).map(|(it, dataset)| BlockRecords::from_dataset(dataset, it));
        self.describe_block(text, country, number, dataset, records.unwrap_or_default())
    }

    /// Describes text, and the number in it, with the records for its block.
    pub(super) fn describe_block(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
        dataset: Option<&Dataset>,
        records: BlockRecords,
    ) -> FormatResult {
        let &Self { include, languages, flags_base_url, now } = self;
        let today = date_of(now);
        let facts =
            Facts { text, country, number: number.as_ref(), dataset, languages, now, today };
        let extras = include.describe(&facts);
        FormatResult::new(text, number, records, today, flags_base_url, extras)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::records::{area_code, carrier, dataset, pooled_exchange};

    #[test]
    fn fields_are_evaluated_on_the_requested_date() {
        let wireless =
            json!({ "ocn": "464D", "carrier_type": "WIRELESS", "type_basis": "COMPANY_NAME" });
        // Block 4, in Juneau, is effective from July 1.
        let dataset =
            dataset([carrier(wireless)], [area_code("907", json!({}))], [pooled_exchange()]);
        let (include, languages) = (&Include::all(), &Languages::default());
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse("907 200 4000", country);
        for (now, expected) in [
            (
                "2026-06-30T23:59:59Z",
                json!([null, "NOT_YET_EFFECTIVE", "Valdez, AK", "2026-06-30"]),
            ),
            ("2026-07-01T00:00:00Z", json!(["WIRELESS", "ASSIGNED", "Juneau, AK", "2026-06-30"])),
            ("2026-07-01T12:00:00Z", json!(["WIRELESS", "ASSIGNED", "Juneau, AK", "2026-07-01"])),
        ] {
            let now = now.parse().unwrap();
            let assembler = Assembler { include, languages, flags_base_url: None, now };
            let result = json!(assembler.describe("", country, number.clone(), Some(&dataset)));
            let local_day = &result["timeZones"][0]["localTime"].as_str().unwrap()[..10];
            let found = json!([
                result["line"]["type"],
                result["assignment"]["verdict"],
                result["place"]["name"],
                local_day,
            ]);
            assert_eq!(found, expected, "{now}");
            assert_eq!(result["carrier"].is_object(), expected[0] == "WIRELESS", "{now}");
            assert!(result["callingHours"].is_object(), "{now}");
        }
    }
}
