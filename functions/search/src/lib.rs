//! Searches all exchanges by words and exact filters, and lists changes to the data.

mod changes;
#[cfg(test)]
mod tests;

use axum::extract::State;
use numbering::dataset::{Dataset, Search};
use numbering::records::{CarrierType, Country, Exchange, Npa, Nxx, Ocn, StateCode, Status};
use numbering::time::today;
use serde::Serialize;
use shared::{
    common_names::IncludeCommonName,
    csv_pages::Rows,
    errors::{ApiError, ListError},
    pagination::{ListRequest, Page, PageResponse, Pagination},
    params::Params,
    route,
    routes::Routes,
    state::App,
};
use utoipa::ToSchema;

use changes::record_history;

pub fn routes() -> Routes {
    Routes::new([
        route!(search),
        route!(changes::list_changes),
        route!(record_history::exchange_history),
        route!(record_history::carrier_history),
    ])
}

/// An exchange in search results.
///
/// The holder is the carrier that the exchange is assigned to. A number may be in another carrier's thousands block, or
/// may have been ported since. Open data does not show porting.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundExchange {
    pub npa: Npa,
    pub nxx: Nxx,
    /// Operating Company Number of the assigned holder; numbers may have been ported. `null` if the exchange is
    /// unassigned, or its holder has no OCN.
    #[schema(required)]
    pub ocn: Option<Ocn>,
    /// Name of the assigned holder; numbers may have been ported. `null` if the exchange has no holder, or no
    /// source names the company.
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub company_name: Option<String>,
    /// Everyday name of the assigned holder; `null` if it has none. Present only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "AT&T")]
    pub common_name: Option<Option<String>>,
    /// Type of the assigned holder; numbers may have been ported. `null` if no source provides it.
    #[schema(required)]
    pub carrier_type: Option<CarrierType>,
    /// The place that determines how the exchange's calls are rated.
    #[schema(required, example = "SNFC CNTRL")]
    pub rate_center: Option<String>,
    /// `null` if the report does not list a state.
    #[schema(required)]
    pub state: Option<StateCode>,
    pub country: Country,
    pub status: Status,
}

impl FoundExchange {
    fn new(exchange: Exchange, common_name: Option<Option<String>>) -> Self {
        Self {
            npa: exchange.npa,
            nxx: exchange.nxx,
            ocn: exchange.ocn,
            company_name: exchange.company_name,
            common_name,
            carrier_type: exchange.carrier_type,
            rate_center: exchange.rate_center,
            state: exchange.state,
            country: exchange.country,
            status: exchange.status,
        }
    }
}

/// A page of matching exchanges.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchResult {
    pub results: Vec<FoundExchange>,
    pub pagination: Pagination,
    #[serde(skip)]
    has_common_names: bool,
}

impl Rows for SearchResult {
    const COLUMNS: &'static str =
        "npa nxx ocn company_name common_name carrier_type rate_center state country status";

    fn omitted_column(&self) -> Option<&'static str> {
        (!self.has_common_names).then_some("common_name")
    }

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.results.iter()
    }
}

const REQUIRED: &str = "At least one of q, npa, nxx, ocn, company, rate_center, state, country, \
                        type and status is required. Usage: /v1/search?q=<WORDS>";

/// Search exchanges
///
/// At least one filter is required, and exchanges must match every filter. Results are ordered by area code and
/// exchange code.
#[utoipa::path(
    get, path = "/v1/search", operation_id = "searchExchanges", tag = "Lists and pages",
    params(Search, IncludeCommonName, ListRequest),
    responses((status = 200, description = "A page of matching exchanges", body = SearchResult), ListError)
)]
async fn search(
    State(app): State<App>,
    request: ListRequest,
) -> Result<PageResponse<SearchResult>, ApiError> {
    let search = parse_filters(&request.params)?;
    let include = IncludeCommonName::parse(&request.params)?;
    let select = |dataset: &Dataset, page: Page| {
        let (exchanges, pagination) = page.slice(dataset.search(&search, today()));
        let row = |exchange: Exchange| {
            let name = include.name_of(exchange.ocn, |ocn| dataset.carrier(ocn));
            FoundExchange::new(exchange, name)
        };
        let results = exchanges.into_iter().map(row).collect();
        (SearchResult { results, pagination, has_common_names: include.0 }, pagination)
    };
    request.list(&app, select).await
}

/// Parses the filters; at least one is required.
fn parse_filters(params: &Params) -> Result<Search, ApiError> {
    let search = Search {
        words: params.parse("q")?,
        npa: params.parse("npa")?,
        nxx: params.parse("nxx")?,
        ocn: params.parse("ocn")?,
        company: params.parse("company")?,
        rate_center: params.parse("rate_center")?,
        state: params.parse("state")?,
        country: params.parse_variant("country")?,
        carrier_type: params.parse_variant("type")?,
        status: params.parse_variant("status")?,
    };
    if search == Search::default() {
        return Err(ApiError::invalid(REQUIRED));
    }
    Ok(search)
}
