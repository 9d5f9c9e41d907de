//! Describes numbers from data in memory, for programs without a server.

use formatting::PhoneNumber;
use jiff::civil::Date;
use numbering::dataset::Dataset;

use super::{
    FormatResult, ReasonInfo,
    block::{BlockRecords, geographic_npa_nxx},
};

impl FormatResult {
    /// The result for a text and the number read in it, with location, carrier and reason from `dataset`. Has no flags,
    /// since those link to a server.
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

    /// Removes an invalid number's formats, so that none is mistaken for a number.
    pub fn without_invalid_formats(self) -> Self {
        Self { formats: self.formats.filter(|_| self.valid), ..self }
    }
}
