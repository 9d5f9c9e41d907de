//! Describes phone numbers, and looks up the blocks of North American ones.

mod answer;
mod batch;
mod block;
pub mod cells;
pub mod fields;
mod lookup;
mod options;
mod readings;
mod reason;
#[cfg(test)]
mod tests;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use numbering::time::today;
use shared::{
    app::Routes,
    errors::{ApiError, ListError},
    flag_images::FlagsBaseUrl,
    params::{Params, PathParams},
    request_context,
    state::App,
};
use utoipa_axum::{router::OpenApiRouter, routes};

pub use answer::FormatResult;
pub use batch::digits_of;
pub use lookup::LookupResult;
pub use reason::ReasonInfo;

use block::{BlockRecords, geographic_npa_nxx};
use fields::Thinned;
use options::Options;
use readings::{Reading, Readings};

/// The routes of this function. On Lambda, phone number rules load before it starts.
pub fn routes() -> Routes {
    let router = OpenApiRouter::default()
        .routes(routes!(by_query))
        .routes(routes!(batch::format_numbers))
        .routes(routes!(by_path))
        .routes(routes!(lookup::by_query))
        .routes(routes!(lookup::by_path));
    Routes::from(router).prepared_by(formatting::load_rules).counted_by_items(&["/v1/format"])
}

/// Describe a phone number
///
/// Unparseable text is not an error: the result has `valid: false` and `possible: false`.
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
) -> Result<Response, ApiError> {
    describe(&app, tn.into(), &Options::parse(&params)?, &flags).await
}

/// Describe a phone number by query
///
/// Unparseable text is not an error: the result has `valid: false` and `possible: false`.
#[utoipa::path(
    get, path = "/v1/format", operation_id = "formatNumberByQuery", tag = "Format",
    params(("tn" = String, Query, description = "Phone number in any notation", min_length = 1), Options),
    responses((status = 200, description = "What the number is", body = FormatResult), ListError)
)]
async fn by_query(
    State(app): State<App>,
    params: Params,
    flags: FlagsBaseUrl,
) -> Result<Response, ApiError> {
    let tn = Readings::from_query(&params)?
        .ok_or_else(|| ApiError::invalid("tn is required. Usage: /v1/format?tn=<NUMBER>"))?;
    describe(&app, tn, &Options::parse(&params)?, &flags).await
}

async fn describe(
    app: &App,
    tn: Readings,
    options: &Options,
    flags: &FlagsBaseUrl,
) -> Result<Response, ApiError> {
    let Reading { text, number } = tn.best(options.default_country);
    let reason = options.reason(&text, options.default_country, number.as_ref());
    if let Some(number) = number.as_ref().filter(|number| number.possible) {
        let (national, e164) = (&number.national_number, &number.formats.e164);
        request_context::record(|context| context.set_phone_number(&text, national, e164));
    }
    let records = match number.as_ref().and_then(geographic_npa_nxx) {
        Some(npa_nxx) => block::look_up(app, npa_nxx, options.cache).await?,
        None => BlockRecords::default(),
    };
    let result = FormatResult::new(&text, number, records, today(), options.flags_at(flags));
    let answer = &FormatResult { reason, ..result };
    Ok(Json(Thinned { answer, fields: options.fields.as_ref() }).into_response())
}
