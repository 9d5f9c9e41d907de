//! Describes phone numbers (spec 4.4), and looks up the blocks of North American ones.

mod answer;
mod batch;
mod block;
pub mod cells;
pub mod columns;
mod in_memory;
mod lookup;
pub mod open_quote;
mod readings;

use axum::{Json, extract::State};
use formatting::DefaultCountry;
use numbering::time::today;
use shared::{
    app::Routes,
    errors::{ApiError, ListError, quote},
    flags_base_url::FlagsBaseUrl,
    lookup::Freshness,
    params::{Params, PathParams},
    request_context,
    state::App,
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

pub use answer::FormatResult;
pub use lookup::LookupResult;

use readings::{Reading, Readings};

/// The routes of this function, which does not start on Lambda without the rules of phone numbers.
pub fn routes() -> Routes {
    let router = OpenApiRouter::default()
        .routes(routes!(by_query))
        .routes(routes!(batch::format_numbers))
        .routes(routes!(by_path))
        .routes(routes!(lookup::by_query))
        .routes(routes!(lookup::by_path));
    Routes::from(router).prepared_by(formatting::load_rules).counted_by_items(&["/v1/format"])
}

/// How to read the number, and whether its exchange may be answered from the cache.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct Options {
    /// ISO 3166-1 alpha-2 code of the country of a number without a country code; default US.
    #[param(value_type = Option<DefaultCountry>)]
    default_country: DefaultCountry,
    /// `false` forces a fresh lookup; any other value is ignored.
    #[param(value_type = Option<String>, example = "false")]
    cache: Freshness,
}

impl Options {
    fn of(params: &Params) -> Result<Self, ApiError> {
        let default_country = match params.text("defaultCountry")? {
            None => DefaultCountry::default(),
            Some(text) => country_of(&text)?,
        };
        let cache = match params.text("cache")? {
            Some(text) if text.eq_ignore_ascii_case("false") => Freshness::Fresh,
            _ => Freshness::Cached,
        };
        Ok(Self { default_country, cache })
    }
}

/// The country that a `defaultCountry` names.
fn country_of(text: &str) -> Result<DefaultCountry, ApiError> {
    text.parse().map_err(|error| {
        let message = format!("Invalid defaultCountry '{}': {error}", quote(text));
        ApiError::UnknownDefaultCountry(message)
    })
}

/// Describe a phone number
///
/// A number that cannot be parsed is no error: it has `valid: false` and `possible: false`.
#[utoipa::path(
    get, path = "/v1/format/{*tn}", operation_id = "formatNumber", tag = "Format",
    params(("tn" = String, Path, description = "Phone number in any notation, percent-encoded"), Options),
    responses((status = 200, description = "What the number is", body = FormatResult), ListError)
)]
async fn by_path(
    State(app): State<App>,
    PathParams([tn]): PathParams<1>,
    params: Params,
    flags: FlagsBaseUrl,
) -> Result<Json<FormatResult>, ApiError> {
    describe(&app, tn.into(), &Options::of(&params)?, &flags).await
}

/// Describe a phone number by query
///
/// A number that cannot be parsed is no error: it has `valid: false` and `possible: false`.
#[utoipa::path(
    get, path = "/v1/format", operation_id = "formatNumberByQuery", tag = "Format",
    params(("tn" = String, Query, description = "Phone number in any notation", min_length = 1), Options),
    responses((status = 200, description = "What the number is", body = FormatResult), ListError)
)]
async fn by_query(
    State(app): State<App>,
    params: Params,
    flags: FlagsBaseUrl,
) -> Result<Json<FormatResult>, ApiError> {
    let tn = Readings::of_query(&params)?
        .ok_or_else(|| ApiError::invalid("tn is required. Usage: /v1/format?tn=<NUMBER>"))?;
    describe(&app, tn, &Options::of(&params)?, &flags).await
}

async fn describe(
    app: &App,
    tn: Readings,
    options: &Options,
    flags: &FlagsBaseUrl,
) -> Result<Json<FormatResult>, ApiError> {
    let Reading { text, number } = tn.best(options.default_country);
    let Some(number) = number else {
        return Ok(Json(FormatResult::unparseable(text.trim())));
    };
    if number.possible {
        let (national, e164) = (&number.national_number, &number.formats.e164);
        request_context::record(|context| context.set_phone_number(&text, national, e164));
    }
    let records = match block::geographic_npa_nxx(&number) {
        Some(npa_nxx) => block::look_up(app, npa_nxx, options.cache).await?,
        None => block::BlockRecords::default(),
    };
    Ok(Json(FormatResult::of(number, records, today(), flags.0.as_deref())))
}
