//! Describes many numbers with one version of the data.

use std::collections::HashMap;

use formatting::{DefaultCountry, PhoneNumber};
use jiff::Timestamp;
use numbering::{records::NpaNxx, time::date_of};
use shared::{
    auth::KeyKind, errors::ApiError, flag_images::FlagsBaseUrl, lookup::Lookups, state::App,
};

use super::{
    FormatResult,
    block::{self, BlockRecords, geographic_npa_nxx},
    extras::{Extras, Subject},
    options::Options,
    test_numbers,
};

/// The numbering data for some numbers, and how to describe them.
pub struct Describer<'a> {
    key: KeyKind,
    options: &'a Options,
    flags_base_url: Option<&'a str>,
    lookups: Option<Lookups<'a>>,
    records: HashMap<NpaNxx, BlockRecords>,
    now: Timestamp,
}

impl<'a> Describer<'a> {
    /// Reads the data for all numbers. Reads each exchange once, even if several numbers are in it. Fails if a number tests
    /// an error.
    pub async fn new<'n>(
        app: &'a App,
        key: KeyKind,
        numbers: impl Iterator<Item = &'n PhoneNumber> + Clone,
        options: &'a Options,
        flags: &'a FlagsBaseUrl,
    ) -> Result<Self, ApiError> {
        numbers.clone().try_for_each(|number| test_numbers::simulate_error(key, number))?;
        let numbers = numbers.filter(|number| test_numbers::dataset(key, number).is_none());
        // Numbers in other plans do not need the data.
        let needs_data = numbers.clone().any(|number| options.needs_data(number));
        let lookups = if needs_data { Some(app.lookups().await?) } else { None };
        let npa_nxxs = numbers.filter_map(geographic_npa_nxx).collect();
        let records = match &lookups {
            Some(lookups) => block::look_up_all(lookups, &npa_nxxs, options.cache).await,
            None => HashMap::new(),
        };
        let flags_base_url = options.flags_base_url(flags);
        Ok(Self { key, options, flags_base_url, lookups, records, now: Timestamp::now() })
    }

    /// The result for text, and the number in it, whose exchange is among those read.
    pub fn describe(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
    ) -> FormatResult {
        let Self { key, options, flags_base_url, lookups, records, now } = self;
        let npa_nxx = number.as_ref().and_then(geographic_npa_nxx);
        let test_data = number.as_ref().and_then(|number| test_numbers::dataset(*key, number));
        let records = npa_nxx.and_then(|npa_nxx| match test_data {
            Some(dataset) => Some(BlockRecords::from_dataset(dataset, npa_nxx)),
            None => records.get(&npa_nxx).cloned(),
        });
        let subject = Subject { text, country, number: number.as_ref() };
        let dataset = test_data.or_else(|| lookups.as_ref().map(Lookups::dataset));
        let extras = Extras::find(&options.include, subject, &options.languages, dataset, *now);
        let records = records.unwrap_or_default();
        let result = FormatResult::new(text, number, records, date_of(*now), *flags_base_url);
        result.with_extras(extras)
    }
}
