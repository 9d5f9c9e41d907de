//! Looks up a North American number's block: its status, holder and location.

use std::sync::LazyLock;

use axum::{extract::State, response::Response};
use formatting::{DefaultCountry, PhoneNumber};
use numbering::records::{Npa, NpaNxx, Nxx, RecordKey, StateCode, Status};
use serde::Serialize;
use shared::{
    auth::KeyKind,
    errors::ApiError,
    json::json_response,
    lookup::Freshness,
    params::{Params, PathParams, invalid_param},
    past_time::AsOf,
    request_context,
    state::App,
};
use utoipa::{IntoParams, ToSchema};

use super::{
    block::{Block, CarrierInfo, Location, NanpParts},
    fields::{Fields, WithFields},
    readings::{Reading, Readings},
    test_numbers,
};

/// A North American number's block.
#[derive(Debug, Serialize, ToSchema)]
pub struct LookupResult {
    /// The number's ten digits.
    #[schema(pattern = "^[0-9]{10}$", example = "4155551234")]
    tn: String,
    /// Area code: the first 3 digits.
    npa: Npa,
    /// Exchange code: the middle 3 digits.
    nxx: Nxx,
    /// Subscriber number: the last 4 digits.
    #[schema(pattern = "^[0-9]{4}$", example = "1234")]
    nxxx: String,
    /// The exchange's status.
    status: Status,
    /// The carrier that the number's block is assigned to; `null` if nobody holds the block. The number may have been
    /// ported since; open data does not show porting.
    #[schema(required)]
    carrier: Option<CarrierInfo>,
    /// The block's location.
    #[schema(required)]
    location: Option<Location>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
struct LookupOptions {
    /// Fields to return, comma-separated, such as `status,carrier.name`. All others are omitted, even required ones.
    /// An object such as `carrier` includes all its fields.
    #[param(value_type = Option<Vec<String>>, style = Form, explode = false)]
    fields: Option<Fields>,
}

static FIELDS: LazyLock<Fields> = LazyLock::new(Fields::from_type::<LookupResult>);

/// Finds the first reading that is a ten-digit North American number. Returns its text, the number and its parts.
fn nanp_number(tn: Readings) -> Result<(String, PhoneNumber, NanpParts), ApiError> {
    let mut readings = tn.ranked(DefaultCountry::default());
    let is_nanp = |reading: &Reading| reading.number.as_ref().is_some_and(PhoneNumber::is_nanp);
    let index = readings.iter().position(is_nanp).unwrap_or_default();
    let Reading { text, number } = readings.swap_remove(index);
    let parts = number.as_ref().and_then(NanpParts::from_number);
    match number.zip(parts) {
        Some((number, parts)) => Ok((text, number, parts)),
        None => {
            Err(invalid_param("tn", &text, "must be a 10-digit North American telephone number"))
        }
    }
}

/// The parts of a request that a lookup uses, besides the number.
type Context = (State<App>, Params, AsOf, KeyKind);

/// Look up a number's block
#[utoipa::path(
    get, path = "/v1/lookup/{*tn}", operation_id = "lookUpBlock", tag = "Look up",
    params(
        ("tn" = String, Path, description = "10-digit North American number in any format"),
        LookupOptions, AsOf
    ),
    responses((status = 200, description = "The block's details", body = LookupResult), ApiError)
)]
pub async fn lookup_by_path(
    PathParams([tn]): PathParams<1>,
    context: Context,
) -> Result<Response, ApiError> {
    look_up(tn.into(), context).await
}

/// Look up a number's block by query
#[utoipa::path(
    get, path = "/v1/lookup", operation_id = "lookUpBlockByQuery", tag = "Look up",
    params(
        ("tn" = String, Query, description = "10-digit North American number in any format"),
        LookupOptions, AsOf
    ),
    responses((status = 200, description = "The block's details", body = LookupResult), ApiError)
)]
pub async fn lookup_by_query(context: Context) -> Result<Response, ApiError> {
    look_up(Readings::from_query(&context.1, "/v1/lookup")?, context).await
}

async fn look_up(
    tn: Readings,
    (State(app), params, as_of, key): Context,
) -> Result<Response, ApiError> {
    let fields = FIELDS.select_from(&params)?;
    let (text, number, NanpParts { npa_nxx, nxxx }) = nanp_number(tn)?;
    let (national, e164) = (&number.national_number, &number.formats.e164);
    request_context::record(|context| context.set_phone_number(&text, national, e164));
    let NpaNxx { npa, nxx } = npa_nxx;
    test_numbers::simulate_error(key, &number)?;
    let (past_dataset, lookups);
    let (exchange, dataset) = if let Some(dataset) = test_numbers::dataset(key, &number) {
        (dataset.exchange(npa_nxx), dataset)
    } else if let Some(past) = app.past(&as_of).await? {
        past_dataset = past.dataset(RecordKey::Exchange(npa_nxx)).await?;
        (past_dataset.exchange(npa_nxx), &*past_dataset)
    } else {
        lookups = app.lookups().await?;
        (lookups.exchange(npa_nxx, Freshness::Cached).await, lookups.dataset())
    };
    let exchange = exchange.ok_or_else(|| ApiError::no_record(RecordKey::Exchange(npa_nxx)))?;
    let status = exchange.status;
    let exchange_country = exchange.country.to_string();
    let block = Block::new(&number, Some(exchange), Some(dataset), as_of.date());
    // For a valid number, Google's rules determine the country. For other numbers, the numbering data does.
    let country = number.country.clone().or_else(|| block.state.map(StateCode::iso_country));
    let country = country.unwrap_or(exchange_country);
    let location = Location::new(&country, &block);
    let tn = number.national_number;
    let value = LookupResult { tn, npa, nxx, nxxx, status, carrier: block.carrier, location };
    Ok(json_response(&WithFields { value, fields: fields.as_ref() }))
}
