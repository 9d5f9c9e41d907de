//! Searches all exchanges by words and exact filters.

#[cfg(test)]
mod tests;

use axum::{extract::State, http::Uri};
use numbering::dataset::Search;
use numbering::records::{CarrierType, Country, Exchange, Npa, Nxx, Ocn, StateCode, Status};
use numbering::time::today;
use serde::Serialize;
use shared::{
    app::Routes,
    csv_pages::{FormatParam, Rows},
    errors::{ApiError, ListError},
    pagination::{Page, Paged, Pagination, VersionParam},
    params::Params,
    state::App,
};
use store::LoadedVersion;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

/// The routes of this function.
pub fn routes() -> Routes {
    OpenApiRouter::default().routes(routes!(search)).into()
}

/// An exchange found by a search.
///
/// The holder is the carrier as assigned. A number may be in a thousands block of another carrier, or have been ported
/// since. Open data does not show porting.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundExchange {
    pub npa: Npa,
    pub nxx: Nxx,
    /// Operating Company Number of the assigned holder; numbers may have been ported. `null` if the exchange is
    /// unassigned, or the report names a company without one.
    #[schema(required)]
    pub ocn: Option<Ocn>,
    /// Name of the assigned holder; numbers may have been ported. `null` if nobody holds the exchange, or no source
    /// names the company.
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub company_name: Option<String>,
    /// Type of the assigned holder; numbers may have been ported. `null` if no source names it.
    #[schema(required)]
    pub carrier_type: Option<CarrierType>,
    /// The place to which the exchange's calls are rated.
    #[schema(required, example = "SNFC CNTRL")]
    pub rate_center: Option<String>,
    /// `null` if the report names no state.
    #[schema(required)]
    pub state: Option<StateCode>,
    pub country: Country,
    pub status: Status,
}

impl From<Exchange> for FoundExchange {
    fn from(exchange: Exchange) -> Self {
        let Exchange {
            npa,
            nxx,
            ocn,
            company_name,
            carrier_type,
            rate_center,
            state,
            country,
            status,
            blocks: _,
        } = exchange;
        Self { npa, nxx, ocn, company_name, carrier_type, rate_center, state, country, status }
    }
}

/// A page of matching exchanges.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchResult {
    pub results: Vec<FoundExchange>,
    pub pagination: Pagination,
}

impl Rows for SearchResult {
    const COLUMNS: &'static [&'static str] = &[
        "npa",
        "nxx",
        "ocn",
        "company_name",
        "carrier_type",
        "rate_center",
        "state",
        "country",
        "status",
    ];

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.results.iter()
    }
}

const REQUIRED: &str = "at least one of q, npa, nxx, ocn, company, rate_center, state, country, \
                        type and status is required. Usage: /v1/search?q=<WORDS>";

/// Search exchanges
///
/// At least one filter is required, and an exchange must match all that are given. Results are ordered by area code and
/// exchange code.
#[utoipa::path(
    get, path = "/v1/search", operation_id = "searchExchanges", tag = "Search",
    params(
        ("q" = Option<String>, Query, description = "Words, each the beginning of a word of a company name, common name or rate center. Case, accents and the punctuation within a word do not matter: `tmobile` and `t-mobile` find `T-Mobile`."),
        ("npa" = Option<Npa>, Query, description = "3-digit area code."),
        ("nxx" = Option<Nxx>, Query, description = "3-digit exchange code."),
        ("ocn" = Option<Ocn>, Query, description = "Operating Company Number of the holder of the exchange or of a thousands block of it."),
        ("company" = Option<String>, Query, description = "Whole company name or common name of such a holder, without case, accents and punctuation."),
        ("rate_center" = Option<String>, Query, description = "Whole rate center, without case, accents and punctuation."),
        ("state" = Option<StateCode>, Query, description = "State or province code."),
        ("country" = Option<Country>, Query, description = "Country, US or CA; a US territory is a state of the US."),
        ("type" = Option<CarrierType>, Query, description = "Type of the holder of the exchange or of a thousands block of it."),
        ("status" = Option<Status>, Query, description = "Assignment status."),
        Page, VersionParam, FormatParam
    ),
    responses(
        (
            status = 200, description = "A page of the exchanges that were found",
            content((SearchResult = "application/json"), (String = "text/csv"))
        ),
        ListError
    )
)]
async fn search(
    State(app): State<App>,
    uri: Uri,
    page: Page,
    version_param: VersionParam,
    FormatParam { format }: FormatParam,
    params: Params,
) -> Result<Paged<SearchResult>, ApiError> {
    let search = parse(&params)?;
    let LoadedVersion { version, dataset } = app.dataset_for_listing(&version_param).await?;
    let (on_page, pagination) = page.slice(dataset.search(&search, today()));
    let results = on_page.into_iter().map(FoundExchange::from).collect();
    Ok(Paged {
        uri,
        pagination,
        version: Some(version.to_string()),
        format,
        body: SearchResult { results, pagination },
    })
}

/// Parses the filters; at least one is required.
fn parse(params: &Params) -> Result<Search, ApiError> {
    let search = Search {
        words: params.parsed("q")?,
        npa: params.parsed("npa")?,
        nxx: params.parsed("nxx")?,
        ocn: params.parsed("ocn")?,
        company: params.parsed("company")?,
        rate_center: params.parsed("rate_center")?,
        state: params.parsed("state")?,
        country: params.one_of("country")?,
        carrier_type: params.one_of("type")?,
        status: params.one_of("status")?,
    };
    if search == Search::default() {
        return Err(ApiError::invalid(REQUIRED));
    }
    Ok(search)
}
