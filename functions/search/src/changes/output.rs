//! Writes changes as JSON, CSV, JSON Lines or an Atom feed.

use axum::{
    extract::FromRequestParts,
    http::{Uri, header::CONTENT_TYPE, request::Parts},
    response::{IntoResponse, Response},
};
use numbering::changes::FieldChange;
use serde::Serialize;
use shared::{
    csv_pages::{ListFormat, Rows},
    errors::ApiError,
    http::preferred_media_type,
    json::{JSON_LINES, json_lines},
    pagination::{PageResponse, pin},
    params::Params,
    public_address::PublicAddress,
};
use strum::{EnumString, VariantNames};
use utoipa::{IntoParams, ToSchema};

use super::{ChangeList, ChangeRow, atom};

const ATOM: &str = "application/atom+xml";

/// The format of a page of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantNames, ToSchema)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[schema(rename_all = "lowercase")]
pub enum ChangesFormat {
    Json,
    Csv,
    Ndjson,
    Atom,
}

#[derive(Debug, Clone, Copy, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FormatParam {
    /// Page format, which overrides `Accept`. `csv` has one row per changed field, `ndjson` one change per line, and `atom`
    /// is a feed. All but `json` have pagination only in the `Link` header. Errors are always JSON.
    #[param(value_type = Option<ChangesFormat>, inline)]
    pub format: ChangesFormat,
}

impl<S: Sync> FromRequestParts<S> for FormatParam {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let requested = Params::from_uri(&parts.uri).parse_variant("format")?;
        let offered = ["application/json", "text/csv", JSON_LINES, ATOM];
        let preferred = || match preferred_media_type(&parts.headers, offered) {
            "text/csv" => ChangesFormat::Csv,
            JSON_LINES => ChangesFormat::Ndjson,
            ATOM => ChangesFormat::Atom,
            _ => ChangesFormat::Json,
        };
        Ok(Self { format: requested.unwrap_or_else(preferred) })
    }
}

/// A changed field as a CSV row.
#[derive(Serialize)]
struct CsvRow<'a> {
    #[serde(flatten)]
    row: &'a ChangeRow,
    field: &'a str,
    #[serde(flatten)]
    values: &'a FieldChange,
}

impl Rows for ChangeList {
    const COLUMNS: &'static str =
        "publication version published_at change kind key field before after";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.changes.iter().flat_map(|row| {
            row.fields.iter().map(move |(field, values)| CsvRow { row, field, values })
        })
    }
}

/// Writes a page in response to a request with this address and path. Feeds use `title`.
pub fn response(
    format: ChangesFormat,
    address: PublicAddress,
    requested: &Uri,
    title: &str,
    body: ChangeList,
) -> Response {
    // Links contain `since` explicitly, because its default changes over time.
    let uri = pin(requested, "since", &body.since.publication);
    let list_format = if format == ChangesFormat::Csv { ListFormat::Csv } else { ListFormat::Json };
    let pagination = body.pagination;
    let (version, continuation) = (None, continuation(&uri, &body));
    let page = PageResponse { uri, pagination, version, format: list_format, continuation, body };
    let (media_type, body) = match format {
        ChangesFormat::Json | ChangesFormat::Csv => return page.into_response(),
        ChangesFormat::Ndjson => (JSON_LINES, json_lines(page.body.changes.iter())),
        ChangesFormat::Atom => (ATOM, atom::feed(address, requested, title, &page.body).into()),
    };
    page.with_links(([(CONTENT_TYPE, media_type)], body).into_response())
}

/// The URL for changes after the last page; `None` before the last page, or if nothing changed.
fn continuation(
    uri: &Uri,
    ChangeList { until, is_current, pagination, .. }: &ChangeList,
) -> Option<Uri> {
    let is_last = pagination.offset.saturating_add(pagination.limit) >= pagination.total;
    let first_page = || pin(&pin(uri, "since", &until.publication), "offset", 0);
    (is_last && !is_current).then(first_page)
}
