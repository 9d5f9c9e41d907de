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

pub struct Describer<'a> {
    key: KeyKind,
    assembler: Assembler<'a>,
    lookups: Option<Lookups<'a>>,
    /// The data at the requested time, if that is in the past.
    past: Option<Arc<Dataset>>,
    records: HashMap<NpaNxx, BlockRecords>,
}

impl<'a> Describer<'a> {
    /// Reads the data for all numbers, or for a single one as it was. Reads each exchange once, even if several numbers are
    /// in it. Fails if a number tests an error.
    pub async fn new<'n>(
        app: &'a App,
        key: KeyKind,
        numbers: impl Iterator<Item = &'n PhoneNumber> + Clone,
        options: &'a Options,
        flags: &'a FlagsBaseUrl,
        as_of: Option<&AsOf>,
    ) -> Result<Self, ApiError> {
        numbers.clone().try_for_each(|number| test_numbers::simulate_error(key, number))?;
        let time = as_of.and_then(|as_of| as_of.time.as_ref());
        let assembler = Assembler {
            include: &options.include,
            languages: &options.languages,
            flags_base_url: options.flags_base_url(flags),
            now: time.map_or_else(Timestamp::now, |time| time.end),
        };
        let mut describer =
            Self { key, assembler, lookups: None, past: None, records: HashMap::new() };
        // Numbers in other plans do not need the data.
        let numbers = numbers.filter(|number| {
            options.needs_data(number) && test_numbers::dataset(key, number).is_none()
        });
        let Some(first) = numbers.clone().next() else { return Ok(describer) };
        let past = match as_of {
            Some(as_of) => app.past(as_of).await?,
            None => None,
        };
        if let Some(past) = past {
            if let Some(NanpParts { npa_nxx, .. }) = NanpParts::from_number(first) {
                describer.past = Some(past.dataset(RecordKey::Exchange(npa_nxx)).await?);
            }
            return Ok(describer);
        }
        let lookups = app.lookups().await?;
        let npa_nxxs = numbers.filter_map(geographic_npa_nxx).collect();
        describer.records = block::look_up_all(&lookups, &npa_nxxs, options.cache).await;
        describer.lookups = Some(lookups);
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
