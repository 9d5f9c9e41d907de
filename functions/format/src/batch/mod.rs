//! Describes many phone numbers at once. Bodies and answers have three formats each; answers keep the order of the
//! numbers.

mod answers;
mod body;
mod json;
mod table;

use axum::{
    extract::{Request, State},
    response::Response,
};
use formatting::{DefaultCountry, PhoneNumber};
use numbering::time::today;
use shared::{
    auth::Charge,
    errors::{ApiError, BodyError},
    flag_images::FlagsBaseUrl,
    params::Params,
    request_context,
    state::App,
};
use utoipa::IntoParams;

use super::{
    FormatResult,
    block::{self, geographic_npa_nxx},
    cells::Columns,
    options::Options,
};

pub use json::digits_of;

use answers::{CSV, FormattedNumber, FormattedNumbers};
use body::Batch;
use json::NumbersToFormat;

/// Maximum numbers per request.
const MAX_NUMBERS: usize = 1000;

/// Checks a body's count of numbers before any is processed.
fn check_count(count: usize) -> Result<(), ApiError> {
    match count {
        0 => Err(ApiError::invalid("The body must have at least one number, got none")),
        1..=MAX_NUMBERS => Ok(()),
        more => Err(ApiError::ContentTooLarge(format!(
            "The body must have at most {MAX_NUMBERS} numbers, got {more}; send the others in another \
             request"
        ))),
    }
}

/// One number in a batch, in its original position.
#[derive(Debug)]
struct AskedNumber {
    /// The client's ID for it.
    id: Option<String>,
    /// The text as sent.
    tn: String,
    /// The number's own country, or why it cannot be read.
    country: Result<Option<DefaultCountry>, ApiError>,
}

impl AskedNumber {
    /// A number without options.
    fn from_text(tn: String) -> Self {
        let country = if tn.is_empty() { Err(empty_number()) } else { Ok(None) };
        Self { id: None, tn, country }
    }
}

fn empty_number() -> ApiError {
    ApiError::invalid("tn must not be empty")
}

/// The CSV columns with the numbers and their countries.
#[derive(Debug, Default, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ColumnParams {
    /// Column with the numbers in a `text/csv` body: its header name, or its number starting at 1. Defaults to the only
    /// column, or the one named like a phone number.
    #[param(example = "phone")]
    column: Option<String>,
    /// Column with the numbers' countries in a `text/csv` body, by name or number. Defaults to the `defaultCountry`
    /// column, if any. Empty cells use the query's `defaultCountry`.
    #[param(example = "country")]
    country_column: Option<String>,
}

impl ColumnParams {
    fn parse(params: &Params) -> Result<Self, ApiError> {
        Ok(Self { column: params.text("column")?, country_column: params.text("countryColumn")? })
    }
}

/// Describe many phone numbers
///
/// Up to 1,000 numbers, each counted as a request. Answers come in the order of the numbers, each with the text as
/// sent. A number that cannot be answered gets an error in its place; the others still get results.
///
/// A `text/plain` body has one number per line. The first row of `text/csv` is the header row unless the content type
/// is `text/csv; header=absent`. Columns are separated by commas, semicolons, tabs or pipes. `Accept` selects JSON, one
/// JSON object per line (`application/x-ndjson`) or `text/csv`. A CSV response to a CSV keeps the columns sent, before
/// those of the results.
#[utoipa::path(
    post, path = "/v1/format", operation_id = "formatNumbers", tag = "Format",
    params(Options, ColumnParams),
    request_body(
        description = "The numbers: an array, lines or a CSV",
        content(
            (NumbersToFormat = "application/json"),
            (String = "text/plain"),
            (String = "text/csv")
        )
    ),
    responses(
        (
            status = 200, description = "What each number is, in their order",
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
    flags: FlagsBaseUrl,
    request: Request,
) -> Result<Response, ApiError> {
    let options = Options::parse(&params)?;
    let media_type = answers::media_type(request.headers());
    let Batch { numbers, table } = Batch::read(request, &ColumnParams::parse(&params)?).await?;
    if let (Some(table), CSV) = (&table, media_type) {
        table.check_names(&Columns::new(&options))?;
    }
    charge.charge_many(numbers.len() as u64).await?;
    request_context::record(|context| context.numbers = Some(numbers.len()));
    let results = answer_all(&app, numbers, &options, &flags).await?;
    answers::response(media_type, table.as_ref(), options, &results)
}

/// Answers all numbers from one version of the data. Each exchange is read once, even if several numbers are in it.
async fn answer_all(
    app: &App,
    numbers: Vec<AskedNumber>,
    options: &Options,
    flags: &FlagsBaseUrl,
) -> Result<Vec<FormattedNumber>, ApiError> {
    let read = numbers.into_iter().map(|AskedNumber { id, tn, country }| {
        let read = country.map(|own_country| {
            let country = own_country.unwrap_or(options.default_country);
            let number = PhoneNumber::parse(&tn, country);
            let reason = options.reason(&tn, country, number.as_ref());
            (number.as_ref().and_then(geographic_npa_nxx), number, reason)
        });
        (id, tn, read)
    });
    let read: Vec<_> = read.collect();
    let npa_nxxs = read.iter().filter_map(|(_, _, read)| read.as_ref().ok()?.0).collect();
    let records = block::look_up_all(app, &npa_nxxs, options.cache).await?;
    let (today, flags) = (today(), options.flags_at(flags));
    let answers = read.into_iter().map(|(id, tn, read)| match read {
        Err(error) => FormattedNumber { id, tn, result: None, error: Some(error.body()) },
        Ok((npa_nxx, number, reason)) => {
            let records = npa_nxx.and_then(|npa_nxx| records.get(&npa_nxx)).cloned();
            let result = FormatResult::new(&tn, number, records.unwrap_or_default(), today, flags);
            let result = Some(FormatResult { reason, ..result });
            FormattedNumber { id, tn, result, error: None }
        }
    });
    Ok(answers.collect())
}
