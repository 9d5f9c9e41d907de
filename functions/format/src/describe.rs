//! Describes many numbers with one version of the data.

use std::{collections::HashMap, sync::Arc};

use formatting::{DefaultCountry, PhoneNumber};
use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{NpaNxx, RecordKey},
    time::date_of,
};
use shared::{
    auth::KeyKind, errors::ApiError, flag_images::FlagsBaseUrl, lookup::Lookups, past_time::AsOf,
    state::App,
};

use super::{
    FormatResult,
    block::{self, BlockRecords, NanpParts, geographic_npa_nxx},
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
    /// The data at `now`, if that is in the past.
    past: Option<Arc<Dataset>>,
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
        let now = Timestamp::now();
        Ok(Self { key, options, flags_base_url, lookups, past: None, records, now })
    }

    /// Reads the data for a number, if any, as it was.
    pub async fn in_past(
        app: &'a App,
        key: KeyKind,
        number: Option<&PhoneNumber>,
        options: &'a Options,
        flags: &'a FlagsBaseUrl,
        as_of: &AsOf,
    ) -> Result<Self, ApiError> {
        let describer = Self::new(app, key, [].into_iter(), options, flags).await?;
        number.map_or(Ok(()), |number| test_numbers::simulate_error(key, number))?;
        let Some(time) = &as_of.time else { return Ok(describer) };
        let describer = Self { now: time.end, ..describer };
        let needs_data = |number: &&PhoneNumber| {
            options.needs_data(number) && test_numbers::dataset(key, number).is_none()
        };
        let parts = number.filter(needs_data).and_then(NanpParts::from_number);
        let Some(NanpParts { npa_nxx, .. }) = parts else { return Ok(describer) };
        let Some(past) = app.past(as_of).await? else { return Ok(describer) };
        let dataset = past.dataset(RecordKey::Exchange(npa_nxx)).await?;
        let records = [(npa_nxx, BlockRecords::from_dataset(&dataset, npa_nxx))].into();
        Ok(Self { past: Some(dataset), records, ..describer })
    }

    /// The result for text, and the number in it, whose exchange is among those read.
    pub fn describe(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
    ) -> FormatResult {
        let Self { key, options, flags_base_url, lookups, past, records, now } = self;
        let npa_nxx = number.as_ref().and_then(geographic_npa_nxx);
        let test_data = number.as_ref().and_then(|number| test_numbers::dataset(*key, number));
        let records = npa_nxx.and_then(|npa_nxx| match test_data {
            Some(dataset) => Some(BlockRecords::from_dataset(dataset, npa_nxx)),
            None => records.get(&npa_nxx).cloned(),
        });
        let subject = Subject { text, country, number: number.as_ref() };
        let dataset = test_data.or(past.as_deref());
        let dataset = dataset.or_else(|| lookups.as_ref().map(Lookups::dataset));
        let extras = Extras::find(&options.include, subject, &options.languages, dataset, *now);
        let records = records.unwrap_or_default();
        let result = FormatResult::new(text, number, records, date_of(*now), *flags_base_url);
        result.with_extras(extras)
    }
}
