//! Formats many phone numbers at once, in order. Requests and responses each support three formats.

mod body;
mod json;
mod response;
mod table;

use axum::{
    extract::{Request, State},
    response::Response,
};
use formatting::{DefaultCountry, PhoneNumber};
use shared::{
    auth::{Charge, KeyKind},
    errors::{ApiError, BodyError},
    flag_images::FlagsBaseUrl,
    params::Params,
    request_context,
    state::App,
};
use utoipa::IntoParams;

use super::{cells::Columns, describe::Describer, options::Options};

pub use json::digits_of;

use body::{Batch, BatchBody};
use json::NumbersToFormat;
use response::{CSV, FormattedNumber, FormattedNumbers};

const MAX_NUMBERS: usize = 1000;

fn check_count(count: usize) -> Result<(), ApiError> {
    match count {
        0 => Err(ApiError::invalid("The body must contain at least one number, got none")),
        1..=MAX_NUMBERS => Ok(()),
        more => Err(ApiError::ContentTooLarge(format!(
            "The body must contain at most {MAX_NUMBERS} numbers, got {more}; send the rest in another \
             request"
        ))),
    }
}

/// One number in a batch, in its original position.
#[derive(Debug)]
struct RequestedNumber {
    id: Option<String>,
    tn: String,
    /// The number's own country, or the reason why the number is invalid.
    country: Result<Option<DefaultCountry>, ApiError>,
}

impl RequestedNumber {
    fn from_text(tn: String) -> Self {
        let country = if tn.is_empty() { Err(empty_number_error()) } else { Ok(None) };
        Self { id: None, tn, country }
    }
}

fn empty_number_error() -> ApiError {
    ApiError::invalid("tn must not be empty")
}

/// The CSV columns with the numbers and their countries.
#[derive(Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ColumnParams {
    /// Column with the numbers in a `text/csv` body: its header name, or its position starting at 1. Defaults to the
    /// only column, or the one whose name suggests phone numbers.
    #[param(example = "phone")]
    column: Option<String>,
    /// Column with the numbers' countries in a `text/csv` body, by name or position. Defaults to the `defaultCountry`
    /// column, if any. Empty cells use the query's `defaultCountry`.
    #[param(example = "country")]
    country_column: Option<String>,
}

/// Format many phone numbers
///
/// Accepts up to 1,000 numbers in at most 512 KB. Each number counts as a request, but the body as no less than one request
/// per 16 KB. Results are in the same order, each with the text as sent.
/// An invalid entry gets an error in its place, and the others still get results.
///
/// A `text/plain` body has one number per line. The first row of `text/csv` is the header row unless the content type
/// is `text/csv; header=absent`. Columns are separated by commas, semicolons, tabs or pipes. `Accept` selects JSON, one
/// JSON object per line (`application/x-ndjson`) or `text/csv`. A CSV response to a CSV request keeps the original
/// columns and appends the result columns.
#[utoipa::path(
    post, path = "/v1/format", operation_id = "formatNumbers", tag = "Format",
    params(Options, ColumnParams),
    request_body(
        description = "The numbers as a JSON array, lines or CSV",
        content(
            (NumbersToFormat = "application/json"),
            (String = "text/plain"),
            (String = "text/csv")
        )
    ),
    responses(
        (
            status = 200, description = "A result for each number, in order",
            content(
                (FormattedNumbers = "application/json"),
                (String = "application/x-ndjson"),
                (String = "text/csv")
            )
        ),
        BodyError
    )
)]
pub async fn format_numbers(
    State(app): State<App>,
    params: Params,
    charge: Charge,
    key: KeyKind,
    flags: FlagsBaseUrl,
    request: Request,
) -> Result<Response, ApiError> {
    let options = Options::parse(&params, request.headers())?;
    let media_type = response::media_type(request.headers());
    let (column, country_column) = (params.text("column")?, params.text("countryColumn")?);
    let columns = ColumnParams { column, country_column };
    // Holds its memory until the response is complete.
    let body = BatchBody::read(&app, &charge, request, &columns).await?;
    let length = body.len();
    let Batch { numbers, table } = app.heavy_work.run(length, || body.parse(&columns)).await??;
    if let (Some(table), CSV) = (&table, media_type) {
        table.check_names(&Columns::new(&options))?;
    }
    charge.raise_to(numbers.len() as u64).await?;
    request_context::record(|context| context.numbers = Some(numbers.len()));
    let parsed = app.heavy_work.run(length, || parse_all(numbers, options.default_country)).await?;
    let numbers = parsed.iter().filter_map(ParsedNumber::number);
    let describer = Describer::new(&app, key, numbers, &options, &flags).await?;
    let respond = || {
        let results: Vec<_> =
            parsed.into_iter().map(|number| number.describe(&describer)).collect();
        response::response(media_type, table.as_ref(), &options, &results)
    };
    app.heavy_work.run(length, respond).await?
}

/// A number in a batch, or the reason why it is invalid.
struct ParsedNumber {
    id: Option<String>,
    tn: String,
    parsed: Result<(DefaultCountry, Option<PhoneNumber>), ApiError>,
}

fn parse_all(numbers: Vec<RequestedNumber>, default: DefaultCountry) -> Vec<ParsedNumber> {
    let parse = |RequestedNumber { id, tn, country }| {
        let parsed = country.map(|own_country| {
            let country = own_country.unwrap_or(default);
            (country, PhoneNumber::parse(&tn, country))
        });
        ParsedNumber { id, tn, parsed }
    };
    numbers.into_iter().map(parse).collect()
}

impl ParsedNumber {
    fn number(&self) -> Option<&PhoneNumber> {
        self.parsed.as_ref().ok()?.1.as_ref()
    }

    fn describe(self, describer: &Describer<'_>) -> FormattedNumber {
        let Self { id, tn, parsed } = self;
        match parsed {
            Err(error) => FormattedNumber { id, tn, result: None, error: Some(error.body()) },
            Ok((country, number)) => {
                let result = Some(describer.describe(&tn, country, number));
                FormattedNumber { id, tn, result, error: None }
            }
        }
    }
}
