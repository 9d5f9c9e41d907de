//! Describes numbers from a version of the data in memory, for programs that have no server to ask.

use formatting::PhoneNumber;
use jiff::civil::Date;
use numbering::dataset::Dataset;

use super::{
    FormatResult,
    block::{BlockRecords, geographic_npa_nxx},
};

impl FormatResult {
    /// The result for a text and the number that was read in it, with the place and the carrier that
    /// `dataset` knows. It has no flags, which lead to a server.
    pub fn in_memory(
        text: &str,
        number: Option<PhoneNumber>,
        dataset: Option<&Dataset>,
        today: Date,
    ) -> Self {
        let Some(number) = number else { return Self::unparseable(text.trim()) };
        let npa_nxx = geographic_npa_nxx(&number);
        let records = npa_nxx.zip(dataset).map_or_else(BlockRecords::default, |(key, dataset)| {
            BlockRecords::of(dataset.exchange(key), || dataset.area_code(key.npa))
        });
        Self::of(number, records, today, None)
    }
}
