//! Assembles results, from numbering data in memory or from records read for them.

use formatting::{
    DefaultCountry, Languages, MAX_INPUT_LENGTH, NumberType, PhoneNumber, country_name,
};
use jiff::Timestamp;
use numbering::{dataset::Dataset, time::date_of};

use super::{
    FormatResult,
    block::{Block, BlockRecords, Location, NanpParts, geographic_npa_nxx},
    extras::Facts,
    include::Include,
    result::Flags,
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

    /// Describes text, and the number in it, with the records for its block. Without a number, the result has only the text
    /// and optional fields.
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
        let Some(number) = number else {
            let input = text.trim().chars().take(MAX_INPUT_LENGTH).collect();
            return FormatResult { input, ..extras };
        };
        let country = number.country.as_deref().and_then(|code| Some((code, country_name(code)?)));
        let block = Block::new(&number, records, today);
        let location = country.and_then(|(code, _)| Location::new(code, &block));
        let flags = flags_base_url.zip(country.filter(|_| number.valid));
        let flags = flags.map(|(base_url, (code, name))| Flags::new(base_url, code, name, &block));
        let parts = NanpParts::from_number(&number);
        FormatResult {
            valid: number.valid,
            possible: number.possible,
            input: number.dialed(),
            country_code: Some(number.country_calling_code.to_string()),
            country_calling_code: Some(format!("+{}", number.country_calling_code)),
            country: number.country,
            national_number: Some(number.national_number),
            npa: parts.as_ref().map(|parts| parts.npa_nxx.npa),
            nxx: parts.as_ref().map(|parts| parts.npa_nxx.nxx),
            nxxx: parts.map(|parts| parts.nxxx),
            extension: number.extension,
            formats: Some(number.formats),
            number_type: number.number_type,
            type_description: number.number_type.map(NumberType::description),
            location,
            carrier: block.carrier,
            flags,
            is_non_geographic: Some(number.is_non_geographic),
            ..extras
        }
    }
}
