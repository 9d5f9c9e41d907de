//! Describes a request's numbers with one version of the data.

use std::{collections::HashMap, sync::Arc};

use formatting::{DefaultCountry, PhoneNumber};
use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{NpaNxx, RecordKey},
};
use shared::{
    auth::KeyKind, errors::ApiError, flag_images::FlagsBaseUrl, lookup::Lookups, past_time::AsOf,
    state::App,
};

use super::{
    FormatResult,
    assemble::Assembler,
    block::{self, BlockRecords, NanpParts, geographic_npa_nxx},
    options::Options,
    test_numbers,
};

/// The numbering data for a request's numbers.
pub struct Describer<'a> {
    key: KeyKind,
    assembler: Assembler<'a>,
    lookups: Option<Lookups<'a>>,
    /// The data at the requested time, if that is in the past.
    past: Option<Arc<Dataset>>,
    records: HashMap<NpaNxx, BlockRecords>,
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
        let assembler = Assembler {
            include: &options.include,
            languages: &options.languages,
            flags_base_url: options.flags_base_url(flags),
            now: Timestamp::now(),
        };
        Ok(Self { key, assembler, lookups, past: None, records })
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
        let mut describer = Self::new(app, key, [].into_iter(), options, flags).await?;
        number.map_or(Ok(()), |number| test_numbers::simulate_error(key, number))?;
        if let Some(time) = &as_of.time {
            describer.assembler.now = time.end;
        }
        let needs_data = |number: &&PhoneNumber| {
            options.needs_data(number) && test_numbers::dataset(key, number).is_none()
        };
        let parts = number.filter(needs_data).and_then(NanpParts::from_number);
        if let Some(NanpParts { npa_nxx, .. }) = parts
            && let Some(past) = app.past(as_of).await?
        {
            describer.past = Some(past.dataset(RecordKey::Exchange(npa_nxx)).await?);
        }
        Ok(describer)
    }

    /// The result for text, and the number in it, whose data are among those read.
    pub fn describe(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
    ) -> FormatResult {
        let Self { key, assembler, lookups, past, records } = self;
        let test_data = number.as_ref().and_then(|number| test_numbers::dataset(*key, number));
        if let Some(dataset) = test_data.or(past.as_deref()) {
            return assembler.describe(text, country, number, Some(dataset));
        }
        let npa_nxx = number.as_ref().and_then(geographic_npa_nxx);
        let records = npa_nxx.and_then(|npa_nxx| records.get(&npa_nxx).cloned());
        let dataset = lookups.as_ref().map(Lookups::dataset);
        assembler.describe_block(text, country, number, dataset, records.unwrap_or_default())
    }
}
