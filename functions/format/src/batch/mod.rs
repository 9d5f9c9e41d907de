//! Formats many phone numbers at once, in order. Requests and responses have three formats each.

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
    http::preferred_media_type,
    params::Params,
    request_context,
    state::App,
};
use utoipa::IntoParams;

use super::{assemble::Describer, options::Options};

pub use json::digits_of;

use body::{BodyFormat, LIMIT};
use json::NumbersToFormat;
use response::{CSV, FormattedNumber, FormattedNumbers, MEDIA_TYPES};

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

/// One entry in a batch, at its original position.
#[derive(Debug)]
struct Entry<T> {
    id: Option<String>,
    tn: String,
    /// The value, or the reason why the number is invalid.
    content: Result<T, ApiError>,
}

/// A number with its own country, if it has one.
type RequestedNumber = Entry<Option<DefaultCountry>>;
type ParsedNumber = Entry<(DefaultCountry, Option<PhoneNumber>)>;

impl RequestedNumber {
    fn from_text(tn: String) -> Self {
        let content = if tn.is_empty() { Err(empty_number_error()) } else { Ok(None) };
        Self { id: None, tn, content }
    }

    fn parse(self, default: DefaultCountry) -> ParsedNumber {
        let Self { id, tn, content } = self;
        let content = content.map(|own_country| {
            let country = own_country.unwrap_or(default);
            (country, PhoneNumber::parse(&tn, country))
        });
        Entry { id, tn, content }
    }
}

impl ParsedNumber {
    fn number(&self) -> Option<&PhoneNumber> {
        self.content.as_ref().ok()?.1.as_ref()
    }
}

fn empty_number_error() -> ApiError {
    ApiError::invalid("tn must not be empty")
}

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
/// Accepts up to 1,000 numbers in at most 512 KB. Each number counts as a request. The minimum is one request per 16 KB of
/// body. Results are in the same order, each with the text as sent. An invalid entry gets an error in its place, and the
/// others still get results.
///
/// A `text/plain` body has one number per line. The first row of `text/csv` is the header row unless the content type
/// is `text/csv; header=absent`. Columns are separated by commas, semicolons, tabs or pipes. `Accept` selects JSON, one
/// JSON object per line (`application/x-ndjson`) or `text/csv`. A CSV response to a CSV request keeps the original
/// columns and appends the result columns.
#[utoipa::path(
    post, path = "/v1/format", operation_id = "formatNumbers", tag = "Batches",
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
    options: Options,
    request: Request,
) -> Result<Response, ApiError> {
    let media_type = preferred_media_type(request.headers(), MEDIA_TYPES);
    let (column, country_column) = (params.text("column")?, params.text("countryColumn")?);
    let columns = ColumnParams { column, country_column };
    let (parts, body) = request.into_parts();
    let format = BodyFormat::from_headers(&parts.headers, &columns)?;
    // Hold the body's memory until the response is complete.
    let body = LIMIT.read(&app.bodies, &charge, body).await?;
    let length = body.len();
    let parse = || format.parse(&body, &columns);
    let (numbers, table) = app.heavy_work.run(length, parse).await??;
    if let (Some(table), CSV) = (&table, media_type) {
        table.check_names(&options.columns())?;
    }
    charge.raise_to(numbers.len() as u64).await?;
    request_context::record(|context| context.numbers = Some(numbers.len()));
    let parse = || numbers.into_iter().map(|it| it.parse(options.default_country)).collect();
    let parsed: Vec<ParsedNumber> = app.heavy_work.run(length, parse).await?;
    let numbers = parsed.iter().filter_map(ParsedNumber::number);
    let describer = Describer::new(&app, key, numbers, &options, None).await?;
    let respond = || {
        let describe = |number| FormattedNumber::new(number, &describer, options.fields.as_ref());
        let results: Vec<_> = parsed.into_iter().map(describe).collect();
        response::response(media_type, table.as_ref(), &options, &results)
    };
    app.heavy_work.run(length, respond).await
}
