//! Assembles results from numbering data in memory, or from records that were read for them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use formatting::{
    DefaultCountry, Languages, MAX_INPUT_LENGTH, NumberType, PhoneNumber, country_name,
};
use jiff::Timestamp;
use numbering::{
    dataset::Dataset,
    records::{Exchange, NpaNxx, RecordKey},
};
use shared::{auth::KeyKind, errors::ApiError, lookup::Lookups, past_time::AsOf, state::App};

use store::LoadedCountry;

use super::{
    FormatResult,
    block::{Block, Location, NanpParts, geographic_npa_nxx},
    extras::Facts,
    include::Include,
    options::Options,
    result::Flags,
    test_numbers,
};

/// The settings shared by all results of a request or file.
#[derive(Debug, Clone, Copy)]
pub struct Assembler<'a> {
    pub include: &'a Include,
    pub languages: &'a Languages,
    /// The base URL for flag images; `None` omits flag links.
    pub flags_base_url: Option<&'a str>,
    pub now: Timestamp,
    /// The countries whose ranges are known.
    pub countries: &'a [LoadedCountry],
}

impl Assembler<'_> {
    /// Describes text and its number, with numbering data in memory.
    pub fn describe(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
        dataset: Option<&Dataset>,
    ) -> FormatResult {
        let npa_nxx = number.as_ref().and_then(geographic_npa_nxx);
        let exchange = npa_nxx.zip(dataset).and_then(|(it, dataset)| dataset.exchange(it));
        self.describe_block(text, country, number, dataset, exchange)
    }

    /// Describes text and its number, with the number's exchange. Without a number, the result has only
    /// the text and optional fields.
    fn describe_block(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
        dataset: Option<&Dataset>,
        exchange: Option<Exchange>,
    ) -> FormatResult {
        let &Self { languages, now, countries, .. } = self;
        let facts =
            Facts { text, country, number: number.as_ref(), dataset, languages, now, countries };
        let (extras, today) = (self.include.describe(&facts), facts.today());
        let Some(number) = number else {
            let input = text.trim().chars().take(MAX_INPUT_LENGTH).collect();
            return FormatResult { input, ..extras };
        };
        let country = number.country.as_deref().and_then(|code| Some((code, country_name(code)?)));
        // An exchange's holder does not hold other kinds of numbers.
        let block = geographic_npa_nxx(&number)
            .map(|_| Block::new(&number, exchange, dataset, today))
            .unwrap_or_default();
        let location = country.and_then(|(code, _)| Location::new(code, &block));
        let flags = self.flags_base_url.zip(country.filter(|_| number.valid));
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

/// Describes the numbers in a request with one version of the data.
pub struct Describer<'a> {
    key: KeyKind,
    assembler: Assembler<'a>,
    lookups: Option<Lookups<'a>>,
    /// The data at the requested time, if it is in the past.
    past: Option<Arc<Dataset>>,
    exchanges: HashMap<NpaNxx, Exchange>,
    /// The countries of the numbers, if results say who holds their ranges.
    countries: Vec<LoadedCountry>,
}

impl<'a> Describer<'a> {
    /// Reads the data for all numbers, or for a single number in the past. Reads each exchange only once, even if
    /// several numbers are in it. Returns an error if a test number simulates one.
    pub async fn new<'n>(
        app: &'a App,
        key: KeyKind,
        numbers: impl Iterator<Item = &'n PhoneNumber> + Clone,
        options: &'a Options,
        as_of: Option<&AsOf>,
    ) -> Result<Self, ApiError> {
        numbers.clone().try_for_each(|number| test_numbers::simulate_error(key, number))?;
        let time = as_of.and_then(|as_of| as_of.time.as_ref());
        let assembler = Assembler {
            include: &options.include,
            languages: &options.languages,
            flags_base_url: options.flags_base_url.as_deref(),
            now: time.map_or_else(Timestamp::now, |time| time.end),
            countries: &[],
        };
        let (exchanges, countries) = (HashMap::new(), Vec::new());
        let mut describer =
            Self { key, assembler, lookups: None, past: None, exchanges, countries };
        // The history has no ranges of other countries.
        if time.is_none() && options.include.needs_countries() {
            let foreign = numbers.clone().map(|number| number.country_calling_code);
            let calling_codes: BTreeSet<i32> = foreign.filter(|code| *code != 1).collect();
            for calling_code in calling_codes {
                describer.countries.extend(app.country_with_calling_code(calling_code).await?);
            }
        }
        // Numbers outside North America do not need the data.
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
        describer.exchanges = lookups.exchanges(&npa_nxxs, options.cache).await;
        describer.lookups = Some(lookups);
        Ok(describer)
    }

    /// The result for text and its number, whose data must have been read.
    pub fn describe(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<PhoneNumber>,
    ) -> FormatResult {
        let Self { key, lookups, past, exchanges, countries, .. } = self;
        let assembler = Assembler { countries, ..self.assembler };
        let test_data = number.as_ref().and_then(|number| test_numbers::dataset(*key, number));
        if let Some(dataset) = test_data.or(past.as_deref()) {
            return assembler.describe(text, country, number, Some(dataset));
        }
        let npa_nxx = number.as_ref().and_then(geographic_npa_nxx);
        let exchange = npa_nxx.and_then(|npa_nxx| exchanges.get(&npa_nxx).cloned());
        let dataset = lookups.as_ref().map(Lookups::dataset);
        assembler.describe_block(text, country, number, dataset, exchange)
    }
}
