//! Describes numbers from a version of the data in memory, for programs that have no server to ask.

use formatting::PhoneNumber;
use jiff::civil::Date;
use numbering::dataset::Dataset;

use super::{
    FormatResult, ReasonInfo,
    block::{BlockRecords, geographic_npa_nxx},
};

impl FormatResult {
    /// The result for a text and the number that was read in it, with the place and the carrier that
    /// `dataset` knows, and with its reason. It has no flags, which lead to a server.
    pub fn in_memory(
        text: &str,
        number: Option<PhoneNumber>,
        reason: Option<ReasonInfo>,
        dataset: Option<&Dataset>,
        today: Date,
    ) -> Self {
        let reason = Some(reason);
        let Some(number) = number else {
            return Self { reason, ..Self::unparseable(text.trim()) };
        };
        let npa_nxx = geographic_npa_nxx(&number);
        let records = npa_nxx.zip(dataset).map_or_else(BlockRecords::default, |(key, dataset)| {
            BlockRecords::new(dataset.exchange(key), || dataset.area_code(key.npa))
        });
        Self { reason, ..Self::new(number, records, today, None) }
    }

    /// The result without the formats of a number that is not valid, so that none of them is taken for a
    /// number.
    pub fn without_invalid_formats(self) -> Self {
        Self { formats: self.formats.filter(|_| self.valid), ..self }
    }
}
