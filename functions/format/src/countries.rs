//! Countries with their numbering plans, and the ranges that a country's regulator publishes.

use std::{collections::HashMap, str::FromStr};

use axum::extract::State;
use formatting::{CountryPlan, DefaultCountry, NumberType, PhoneNumber};
use itertools::Itertools;
use jiff::civil::Date;
use numbering::ranges::{CountryRanges, NationalNumber, Range, RangeFacts, RangeSearch, RangeUse};
use serde::Serialize;
use shared::{
    csv_pages::{FormatParam, Rows},
    errors::{ApiError, ListError},
    pagination::{ListRequest, Page, PageResponse, Pagination},
    params::{Params, PathParams, invalid_param, parse_param},
    state::App,
};
use store::{CountryData, LoadedCountry};
use utoipa::ToSchema;

use super::extras::RangeSource;

/// The maximum number of free numbers that are tried as examples, spread over the plan.
const MAX_TRIED_NUMBERS: usize = 5_000;

/// A country's numbering plan.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountryInfo {
    /// ISO 3166-1 alpha-2 code, or AC, TA or XK.
    #[schema(example = "GB")]
    pub code: &'static str,
    #[schema(example = "United Kingdom")]
    pub name: &'static str,
    #[schema(example = "44")]
    pub calling_code: String,
    /// The digits dialed before a national number within the country; `null` if the country uses none.
    #[schema(required, example = "0")]
    pub trunk_prefix: Option<String>,
    /// The digits before calling codes inside the country; a regular expression if there are several.
    #[schema(required, example = "00")]
    pub international_prefix: Option<String>,
    pub types: Vec<TypeInfo>,
    /// The regulator's data; `null` if it was not imported.
    #[schema(required)]
    pub data: Option<CountrySource>,
}

/// A type of numbers that a country has, by Google's rules.
#[derive(Debug, Serialize, ToSchema)]
pub struct TypeInfo {
    #[serde(rename = "type")]
    pub number_type: NumberType,
    /// The digits of national numbers.
    pub lengths: Vec<i32>,
    /// A valid number in E.164 that nobody holds, according to the regulator; `null` if none is known.
    #[schema(required, example = "+447700930000")]
    pub example: Option<String>,
}

/// The origin and size of a country's data.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountrySource {
    #[schema(example = "National Telephone Numbering Plan: allocation of number blocks")]
    pub title: String,
    #[schema(example = "Ofcom")]
    pub publisher: String,
    /// The known terms of use.
    pub license: String,
    /// The date of the newest entry; `null` if the data has no dates.
    #[schema(required, value_type = Option<String>, format = Date, example = "2000-01-01")]
    pub date: Option<Date>,
    /// The time of its last import.
    #[schema(format = DateTime)]
    pub imported_at: String,
    /// Ranges, after joining neighbors with the same facts.
    pub ranges: u32,
    pub holders: u32,
}

/// A page of countries.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountryList {
    pub countries: Vec<CountryInfo>,
    pub pagination: Pagination,
}

/// A country as a CSV row.
#[derive(Serialize)]
struct CountryRow<'a> {
    #[serde(flatten)]
    country: &'a CountryInfo,
    number_types: String,
    publisher: Option<&'a str>,
    date: Option<Date>,
    ranges: Option<u32>,
}

impl Rows for CountryList {
    const COLUMNS: &'static str = "code name calling_code trunk_prefix international_prefix \
                                   number_types publisher date ranges";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.countries.iter().map(|country| {
            let data = country.data.as_ref();
            CountryRow {
                country,
                number_types: country.types.iter().map(|it| it.number_type).join(" "),
                publisher: data.map(|data| data.publisher.as_str()),
                date: data.and_then(|data| data.date),
                ranges: data.map(|data| data.ranges),
            }
        })
    }
}

impl CountryInfo {
    /// `data` is the country's, if it was imported.
    fn new(
        plan: CountryPlan,
        data: Option<&CountryData>,
        examples: &HashMap<String, String>,
    ) -> Self {
        let types = plan.types.into_iter().map(|(number_type, lengths)| TypeInfo {
            number_type,
            lengths,
            example: examples.get(&number_type.to_string()).cloned(),
        });
        Self {
            code: plan.code,
            name: plan.name,
            calling_code: plan.calling_code.to_string(),
            trunk_prefix: plan.trunk_prefix,
            international_prefix: plan.international_prefix,
            types: types.collect(),
            data: data.map(CountrySource::from),
        }
    }
}

impl From<&CountryData> for CountrySource {
    fn from(data: &CountryData) -> Self {
        let count = |name: &str| data.imported.counts.get(name).copied().unwrap_or_default();
        Self {
            title: data.title.clone(),
            publisher: data.publisher.clone(),
            license: data.license.clone(),
            date: data.imported.date,
            imported_at: data.imported.read_at.to_string(),
            ranges: count("ranges"),
            holders: count("holders"),
        }
    }
}

/// Returns a country's [`free_numbers`], which each container computes only once.
async fn example_numbers(
    app: &App,
    plan: &CountryPlan,
    country: &LoadedCountry,
) -> Result<HashMap<String, String>, ApiError> {
    let numbers = &country.example_numbers;
    if numbers.get().is_none() {
        let size = country.ranges.iter().count();
        app.heavy_work.run(size, || numbers.get_or_init(|| free_numbers(plan, country))).await?;
    }
    Ok(numbers.get().cloned().unwrap_or_default())
}

/// The first number of each type in the country that is valid by Google's rules, but in a listed range without a holder
/// and without subscribers, or in no range.
fn free_numbers(
    plan: &CountryPlan,
    LoadedCountry { data, ranges, .. }: &LoadedCountry,
) -> HashMap<String, String> {
    let is_free = |range: &Range<&RangeFacts>| {
        let RangeFacts { status, holder, .. } = range.facts;
        holder.is_none() && status.as_ref().is_some_and(|it| data.example_statuses.contains(it))
    };
    // The made-up sample lists few ranges, so real companies hold the others.
    let is_unlisted = |number: &NationalNumber| {
        !data.is_sample() && ranges.find(*number).is_none() && ranges.covers(&number.to_string())
    };
    let listed = ranges.iter().filter(is_free).map(|range| range.from);
    let unlisted = ranges.iter().filter_map(|range| range.to.next()).filter(is_unlisted);
    let free: Vec<NationalNumber> = listed.chain(unlisted).collect();
    let step = free.len().div_ceil(MAX_TRIED_NUMBERS).max(1);
    let numbers = free.into_iter().step_by(step).filter_map(|national| {
        let e164 = format!("+{}{national}", plan.calling_code);
        let number = PhoneNumber::parse(&e164, DefaultCountry::default())?;
        let is_local = number.country.as_deref() == Some(plan.code);
        Some((number.number_type?, e164)).filter(|_| number.valid && is_local)
    });
    let first = numbers.unique_by(|(number_type, _)| *number_type);
    first.map(|(number_type, number)| (number_type.to_string(), number)).collect()
}

/// The digits of a country in an international number (ITU-T E.164, section 6.2.1).
#[derive(Clone, Copy)]
struct CallingCode(i32);

impl FromStr for CallingCode {
    type Err = &'static str;

    fn from_str(digits: &str) -> Result<Self, Self::Err> {
        let code = digits.parse().ok().filter(|code| (1..=999).contains(code));
        code.map(Self).ok_or("must be a number from 1 to 999")
    }
}

/// List countries
///
/// Calling codes, prefixes, and the lengths of numbers by type, according to libphonenumber. If a country's ranges were
/// imported, also its regulator and numbers that nobody holds, for tests and examples. Ordered by code.
#[utoipa::path(
    get, path = "/v1/countries", operation_id = "listCountries", tag = "Lists and pages",
    params(
        ("country" = Option<DefaultCountry>, Query, description = "ISO 3166-1 alpha-2 country code, for a single country."),
        ("calling_code" = Option<i32>, Query, description = "Calling code, without the plus sign.", minimum = 1, maximum = 999, example = 44),
        Page, FormatParam
    ),
    responses((status = 200, description = "A page of countries", body = CountryList), ListError)
)]
pub(super) async fn list_countries(
    State(app): State<App>,
    request: ListRequest,
) -> Result<PageResponse<CountryList>, ApiError> {
    let country: Option<DefaultCountry> = request.params.parse("country")?;
    let code = country.and(request.params.text("country")?).map(|code| code.to_uppercase());
    let calling_code: Option<CallingCode> = request.params.parse("calling_code")?;
    let mut plans = CountryPlan::all();
    plans.retain(|plan| code.as_ref().is_none_or(|code| *code == plan.code));
    plans.retain(|plan| calling_code.is_none_or(|CallingCode(code)| code == plan.calling_code));
    let (plans, pagination) = request.page.slice(plans.into_iter());
    let imported = app.countries().await?.0;
    let mut countries = Vec::new();
    for plan in plans {
        let data = imported.get(plan.code);
        let examples = match data {
            Some(data) => match app.load_country(plan.code, data).await {
                // The plan is still known.
                Err(ApiError::Unreadable) => HashMap::new(),
                country => example_numbers(&app, &plan, &country?).await?,
            },
            None => HashMap::new(),
        };
        countries.push(CountryInfo::new(plan, data, &examples));
    }
    Ok(request.response(None, CountryList { countries, pagination }, pagination))
}

/// A range of national numbers in a regulator's data.
#[derive(Debug, Serialize, ToSchema)]
pub struct RangeRow {
    /// The first national number.
    #[schema(value_type = String, example = "2079460000")]
    pub from: NationalNumber,
    /// The last national number.
    #[schema(value_type = String, example = "2079460999")]
    pub to: NationalNumber,
    #[serde(rename = "use")]
    pub range_use: RangeUse,
    /// The regulator's own word; `null` if it lists only assigned ranges.
    #[schema(required, example = "Allocated")]
    pub status: Option<String>,
    /// The holder as published; `null` if the range has none.
    #[schema(required, example = "Sample Networks plc")]
    pub holder: Option<String>,
    /// The first day of the assignment or status; `null` if unknown.
    #[schema(required, value_type = Option<String>, format = Date, example = "1998-06-01")]
    pub effective_from: Option<Date>,
    /// The place or region as published; `null` if the range has none.
    #[schema(required, example = "Madrid")]
    pub place: Option<String>,
}

impl From<Range<&RangeFacts>> for RangeRow {
    fn from(Range { from, to, facts }: Range<&RangeFacts>) -> Self {
        let RangeFacts { range_use, status, holder, effective_from, place } = facts.clone();
        Self { from, to, range_use, status, holder, effective_from, place }
    }
}

/// A page of a country's ranges.
#[derive(Debug, Serialize, ToSchema)]
pub struct RangeList {
    #[schema(example = "GB")]
    pub country: String,
    pub source: RangeSource,
    pub ranges: Vec<RangeRow>,
    pub pagination: Pagination,
}

impl Rows for RangeList {
    const COLUMNS: &'static str = "from to use status holder effective_from place";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.ranges.iter()
    }
}

fn parse_search(params: &Params, ranges: &CountryRanges) -> Result<RangeSearch, ApiError> {
    let status = params.text("status")?.map(|text| {
        ranges.parse_status(&text).map_err(|rule| invalid_param("status", &text, rule))
    });
    let prefix = params.text("prefix")?;
    if let Some(prefix) = &prefix {
        parse_param::<NationalNumber>("prefix", prefix)?;
    }
    Ok(RangeSearch { holder: params.parse("holder")?, status: status.transpose()?, prefix })
}

/// List a country's ranges
///
/// The ranges of national numbers that the country's regulator publishes, in order, with their holders. Neighboring
/// ranges with the same facts are joined. Numbers may have been ported to other providers.
#[utoipa::path(
    get, path = "/v1/countries/{code}/ranges", operation_id = "listRanges", tag = "Lists and pages",
    params(
        ("code" = DefaultCountry, Path, description = "ISO 3166-1 alpha-2 country code"),
        ("holder" = Option<String>, Query, description = "Full name of the holder. Case, accents and punctuation are ignored."),
        ("status" = Option<String>, Query, description = "`ASSIGNED`, `UNASSIGNED`, `RESERVED`, or the regulator's own word.", example = "ASSIGNED"),
        ("prefix" = Option<String>, Query, description = "First digits of the national number.", pattern = "^[0-9]{1,15}$", example = "77"),
        ListRequest
    ),
    responses((status = 200, description = "A page of ranges", body = RangeList), ListError, ApiError)
)]
pub(super) async fn list_ranges(
    State(app): State<App>,
    PathParams([code]): PathParams<1>,
    request: ListRequest,
) -> Result<PageResponse<RangeList>, ApiError> {
    parse_param::<DefaultCountry>("code", &code)?;
    let LoadedCountry { code, data, ranges, .. } =
        app.country_for_listing(&code, &request.version).await?;
    let search = parse_search(&request.params, &ranges)?;
    let (rows, pagination) = request.page.slice(ranges.matching(&search).into_iter());
    let rows = rows.into_iter().map(RangeRow::from).collect();
    let body = RangeList { country: code, source: (&data).into(), ranges: rows, pagination };
    Ok(request.response(Some(&data.piece.version), body, pagination))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::Store;

    use super::*;
    use crate::tests::results::britain;

    #[test]
    fn example_numbers_are_unassigned_in_the_regulators_data() {
        let plan = || CountryPlan::all().into_iter().find(|plan| plan.code == "GB").unwrap();
        let mut country = britain();
        let mut text = String::new();
        for date in ["2026-06-01", "2000-01-01"] {
            country.data.imported.date = Some(date.parse().unwrap());
            text += &format!("{date}\n");
            let numbers = free_numbers(&plan(), &country).into_iter();
            text.extend(numbers.map(|(kind, number)| format!("  {kind} {number}\n")).sorted());
        }
        insta::assert_snapshot!(text, @"
        2026-06-01
          FIXED_LINE +442079461000
          MOBILE +447400900000
          PERSONAL_NUMBER +447000001000
        2000-01-01
          FIXED_LINE +442079461000
        ");
    }

    #[tokio::test]
    async fn examples_are_computed_once_per_version() {
        let plan = CountryPlan::all().into_iter().find(|plan| plan.code == "GB").unwrap();
        let (app, country) = (App::with_store(Store::unreachable()), britain());
        let numbers = example_numbers(&app, &plan, &country).await.unwrap();
        assert_eq!(numbers["MOBILE"], "+447400900000");
        let with_other_ranges = LoadedCountry { ranges: Arc::default(), ..country };
        assert_eq!(example_numbers(&app, &plan, &with_other_ranges).await.unwrap(), numbers);
    }
}
