//! Formats phone numbers, finds them in text, looks up the blocks of North American numbers, and lists countries.

mod assemble;
mod batch;
mod block;
mod bodies;
pub mod columns;
mod countries;
pub mod extras;
pub mod fields;
mod find;
pub mod include;
mod lookup;
mod options;
mod readings;
mod result;
mod test_numbers;
#[cfg(test)]
mod tests;

use axum::{extract::State, response::Response};
use shared::{
    auth::KeyKind,
    errors::{ApiError, ListError},
    json::json_response,
    params::{Params, PathParams},
    past_time::AsOf,
    request_context, route,
    routes::Routes,
    state::App,
};

pub use assemble::Assembler;
pub use batch::digits_of;
pub use include::Include;
pub use lookup::LookupResult;
pub use result::FormatResult;

use assemble::Describer;
use fields::WithFields;
use options::Options;
use readings::{Reading, Readings};

/// This function's routes. On Lambda, the phone number rules load at startup.
pub fn routes() -> Routes {
    Routes::new([
        route!(format_by_query),
        route!(batch::format_numbers),
        route!(format_by_path),
        route!(lookup::lookup_by_query),
        route!(lookup::lookup_by_path),
        route!(find::find_in_text),
        route!(countries::list_countries),
        route!(countries::list_ranges),
    ])
    .with_preparation(formatting::load_rules)
}

/// The parts of a request that formatting uses, besides the number.
type Context = (State<App>, Params, AsOf, KeyKind, Options);

/// Format a phone number
///
/// Unparseable text is not an error: the result has `valid: false` and `possible: false`.
#[utoipa::path(
    get, path = "/v1/format/{*tn}", operation_id = "formatNumber", tag = "Look up",
    params(("tn" = String, Path, description = "Phone number in any format, percent-encoded"), Options, AsOf),
    responses((status = 200, description = "The number's details", body = FormatResult), ListError)
)]
async fn format_by_path(
    PathParams([tn]): PathParams<1>,
    context: Context,
) -> Result<Response, ApiError> {
    format_number(tn.into(), context).await
}

/// Format a phone number by query
///
/// Unparseable text is not an error: the result has `valid: false` and `possible: false`.
#[utoipa::path(
    get, path = "/v1/format", operation_id = "formatNumberByQuery", tag = "Look up",
    params(("tn" = String, Query, description = "Phone number in any format", min_length = 1), Options, AsOf),
    responses((status = 200, description = "The number's details", body = FormatResult), ListError)
)]
async fn format_by_query(context: Context) -> Result<Response, ApiError> {
    format_number(Readings::from_query(&context.1, "/v1/format")?, context).await
}

async fn format_number(tn: Readings, context: Context) -> Result<Response, ApiError> {
    let (State(app), _, as_of, key, options) = &context;
    let country = options.default_country;
    let Reading { text, number } = tn.best(country);
    if let Some(number) = number.as_ref().filter(|number| number.possible) {
        let (national, e164) = (&number.national_number, &number.formats.e164);
        request_context::record(|context| context.set_phone_number(&text, national, e164));
    }
    let describer = Describer::new(app, *key, number.iter(), options, Some(as_of)).await?;
    let value = describer.describe(&text, country, number);
    Ok(json_response(&WithFields { value, fields: options.fields.as_ref() }))
}
