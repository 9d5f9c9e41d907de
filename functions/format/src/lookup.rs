//! Looks up the block of a North American number: its status, holder and place.

use std::sync::LazyLock;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use formatting::{DefaultCountry, PhoneNumber};
use numbering::{
    records::{Npa, NpaNxx, Nxx, StateCode, Status},
    time::today,
};
use serde::Serialize;
use shared::{
    errors::ApiError,
    lookup::Freshness,
    params::{Params, PathParams, invalid_param},
    request_context,
    state::App,
};
use utoipa::{IntoParams, ToSchema};

use super::{
    block::{self, Block, CarrierInfo, Location, NanpParts},
    fields::{Fields, Thinned},
    readings::{Reading, Readings},
};

/// The block of a number.
#[derive(Debug, Serialize, ToSchema)]
pub struct LookupResult {
    /// The number's ten digits.
    #[schema(pattern = "^[0-9]{10}$", example = "4155551234")]
    tn: String,
    /// Area code, first 3 digits.
    npa: Npa,
    /// Exchange code, middle 3 digits.
    nxx: Nxx,
    /// Subscriber number, last 4 digits.
    #[schema(pattern = "^[0-9]{4}$", example = "1234")]
    nxxx: String,
    /// Status of the exchange.
    status: Status,
    /// The carrier to which the number's block is assigned; `null` if nobody holds it. The number may have been ported
    /// since; open data does not show porting.
    #[schema(required)]
    carrier: Option<CarrierInfo>,
    /// Location of the block.
    #[schema(required)]
    location: Option<Location>,
}

/// Fields to return.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
struct LookupOptions {
    /// Fields to return, comma-separated, such as `status,carrier.name`. All others are left out, even required ones. A
    /// part such as `carrier` includes all of its fields.
    #[param(value_type = Option<Vec<String>>, style = Form, explode = false)]
    fields: Option<Fields>,
}

impl LookupOptions {
    fn parse(params: &Params) -> Result<Self, ApiError> {
        /// All fields, for requests that select some.
        static FIELDS: LazyLock<Fields> = LazyLock::new(Fields::from_type::<LookupResult>);
        Ok(Self { fields: FIELDS.selected_by(params)? })
    }
}

/// The first reading that is a ten-digit North American number: its text, the number and its parts.
fn nanp_number(tn: Readings) -> Result<(String, PhoneNumber, NanpParts), ApiError> {
    let mut readings = tn.ranked(DefaultCountry::default());
    let is_nanp = |reading: &Reading| reading.number.as_ref().is_some_and(PhoneNumber::is_nanp);
    let chosen = readings.iter().position(is_nanp).unwrap_or_default();
    let Reading { text, number } = readings.swap_remove(chosen);
    let parts = number.as_ref().and_then(NanpParts::from_number);
    match number.zip(parts) {
        Some((number, parts)) => Ok((text, number, parts)),
        None => {
            Err(invalid_param("tn", &text, "must be a 10-digit North American telephone number"))
        }
    }
}

/// Look up the block of a number
#[utoipa::path(
    get, path = "/v1/lookup/{*tn}", operation_id = "lookUpBlock", tag = "Lookup",
    params(
        ("tn" = String, Path, description = "10-digit North American number in any notation"),
        LookupOptions
    ),
    responses((status = 200, description = "What is known of the block", body = LookupResult), ApiError)
)]
pub async fn by_path(
    State(app): State<App>,
    PathParams([tn]): PathParams<1>,
    params: Params,
) -> Result<Response, ApiError> {
    look_up(&app, tn.into(), &LookupOptions::parse(&params)?).await
}

/// Look up the block of a number by query
#[utoipa::path(
    get, path = "/v1/lookup", operation_id = "lookUpBlockByQuery", tag = "Lookup",
    params(
        ("tn" = String, Query, description = "10-digit North American number in any notation"),
        LookupOptions
    ),
    responses((status = 200, description = "What is known of the block", body = LookupResult), ApiError)
)]
pub async fn by_query(State(app): State<App>, params: Params) -> Result<Response, ApiError> {
    let tn = Readings::from_query(&params)?
        .ok_or_else(|| ApiError::invalid("tn is required. Usage: /v1/lookup?tn=<NUMBER>"))?;
    look_up(&app, tn, &LookupOptions::parse(&params)?).await
}

async fn look_up(app: &App, tn: Readings, options: &LookupOptions) -> Result<Response, ApiError> {
    let (text, number, NanpParts { npa, nxx, nxxx }) = nanp_number(tn)?;
    let (national, e164) = (&number.national_number, &number.formats.e164);
    request_context::record(|context| context.set_phone_number(&text, national, e164));
    let npa_nxx = NpaNxx { npa, nxx };
    let records = block::look_up(app, npa_nxx, Freshness::Cached).await?;
    let Some(exchange) = &records.exchange else {
        return Err(ApiError::not_found(format!("No data found for NPA-NXX {npa_nxx}")));
    };
    let status = exchange.status;
    let country_of_exchange = exchange.country.to_string();
    let block = Block::new(&number, records, today());
    // Google's rules give a valid number's country; for others the numbering data does.
    let state = block.state.map(|(state, _)| state);
    let country = number.country.clone().or_else(|| state.map(StateCode::iso_country));
    let country = country.unwrap_or(country_of_exchange);
    let location = Location::new(&country, &block);
    let tn = number.national_number;
    let answer = &LookupResult { tn, npa, nxx, nxxx, status, carrier: block.carrier, location };
    Ok(Json(Thinned { answer, fields: options.fields.as_ref() }).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits_in(text: &str) -> Option<String> {
        let (_, number, _) = nanp_number(text.to_owned().into()).ok()?;
        Some(number.national_number)
    }

    #[test]
    fn only_ten_digit_numbers_are_read_in_any_format() {
        for text in ["4155551234", "+1 (415) 555-1234", "1-415-555-1234", "tel:+14155551234"] {
            assert_eq!(digits_in(text).as_deref(), Some("4155551234"), "{text}");
        }
        for text in ["", "415555", "41555512345", "+442079460958", "0114930123456", "no number"] {
            assert_eq!(digits_in(text), None, "{text}");
        }
    }
}
