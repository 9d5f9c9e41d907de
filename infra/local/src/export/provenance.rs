//! Where exported data comes from, and what it cannot say.

use serde_json::Value;
use store::{FileDates, Snapshot};

use crate::numbering_data::NumberingData;

/// What is never known of the carrier of a number.
const CAVEAT: &str = "A carrier is the holder of an exchange or thousands block as assigned. Numbers can \
                      be ported to another carrier, which no open data tells.";

const SOURCES: &str = "reports of NANPA (nanpa.com) and CNAC (cnac.ca)";
const SAMPLE: &str = "made-up sample; carriers, OCNs, rate centers and assignments are invented";

/// Where the data comes from, as names and values. The same data always has the same provenance.
pub struct Provenance(Vec<(&'static str, Option<String>)>);

impl Provenance {
    pub fn of(NumberingData { dataset, snapshot }: &NumberingData) -> Self {
        let Snapshot { version, ingested_at, file_dates, .. } = snapshot;
        let FileDates { nanpa, cnac, npa_report } = file_dates;
        let sources = if snapshot.is_sample() { SAMPLE } else { SOURCES };
        let generator = concat!("tnr ", env!("CARGO_PKG_VERSION"));
        let text = |text: &str| Some(text.to_owned());
        let count = |count: usize| Some(count.to_string());
        Self(vec![
            ("data_version", Some(version.to_string())),
            ("imported_at", Some(ingested_at.to_string())),
            ("nanpa_report_date", nanpa.map(|date| date.to_string())),
            ("cnac_report_date", cnac.map(|date| date.to_string())),
            ("area_code_report_date", npa_report.map(|date| date.to_string())),
            ("sources", text(sources)),
            ("generator", text(generator)),
            ("area_codes", count(dataset.area_codes().len())),
            ("carriers", count(dataset.carriers().len())),
            ("exchanges", count(dataset.exchanges().len())),
            ("blocks", count(dataset.block_count())),
            ("caveat", text(CAVEAT)),
        ])
    }

    /// The names and values; a report without a date has none.
    pub fn rows(self) -> Vec<(&'static str, Option<String>)> {
        self.0
    }

    /// The same as an object. Counts are numbers.
    pub fn into_json(self) -> Value {
        let counts = Self::COUNTS;
        let fields = self.0.into_iter().map(|(name, value)| {
            let number =
                value.as_ref().filter(|_| counts.contains(&name)).and_then(|it| it.parse().ok());
            (
                name.to_owned(),
                number.map_or_else(|| Value::from(value), |number: u64| number.into()),
            )
        });
        Value::Object(fields.collect())
    }

    const COUNTS: [&str; 4] = ["area_codes", "carriers", "exchanges", "blocks"];
}
