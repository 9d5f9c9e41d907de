//! Lists area codes, an area code's exchanges, and an exchange's blocks.

mod area_codes;
mod blocks;
#[cfg(test)]
mod tests;

use axum::extract::State;
use numbering::records::{
    AreaCode, Carrier, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, Record, RecordKey, StateCode,
    Status, Version,
};
use serde::Serialize;
use shared::{
    common_names::IncludeCommonName,
    csv_pages::{FormatParam, Rows},
    errors::ApiError,
    lookup::Freshness,
    pagination::{ListRequest, Page, PageResponse, Pagination, VersionParam, pin},
    params::{PathParams, parse_param},
    past::Past,
    past_time::AsOf,
    route,
    routes::Routes,
    state::App,
};
use store::LoadedVersion;
use utoipa::ToSchema;

pub fn routes() -> Routes {
    Routes::new([
        route!(area_code_by_query),
        route!(area_code_by_path),
        route!(exchange_by_path),
        route!(blocks::list_blocks),
        route!(area_codes::list_area_codes),
        route!(area_codes::area_code_plan),
    ])
}

/// An exchange in an area code.
///
/// The holder is the carrier that the exchange is assigned to. A number may be in another carrier's thousands block, or
/// may have been ported since. Open data does not show porting.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExchangeRow {
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
    /// The place that determines how the exchange's calls are rated.
    #[schema(required, example = "SNFC CNTRL")]
    pub rate_center: Option<String>,
    pub status: Status,
}

impl ExchangeRow {
    fn new(exchange: Exchange, common_name: Option<Option<String>>) -> Self {
        let Exchange { nxx, ocn, company_name, rate_center, status, .. } = exchange;
        Self { nxx, ocn, company_name, common_name, rate_center, status }
    }
}

/// An area code with a page of its exchanges.
#[derive(Debug, Serialize, ToSchema)]
pub struct AreaCodeResult {
    pub npa: Npa,
    /// State or province with the most exchanges; `null` if the area code is non-geographic.
    #[schema(required)]
    pub state: Option<StateCode>,
    pub country: Country,
    /// Total exchanges in the area code, regardless of page or `nxx`.
    pub total_exchanges: u32,
    pub exchanges: Vec<ExchangeRow>,
    pub pagination: Pagination,
    #[serde(skip)]
    has_common_names: bool,
}

/// An exchange as a CSV row, with its area code.
#[derive(Serialize)]
struct CsvRow<'a> {
    npa: Npa,
    #[serde(flatten)]
    exchange: &'a ExchangeRow,
}

impl Rows for AreaCodeResult {
    const COLUMNS: &'static str = "npa nxx ocn company_name common_name rate_center status";

    fn omitted_column(&self) -> Option<&'static str> {
        (!self.has_common_names).then_some("common_name")
    }

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.exchanges.iter().map(|exchange| CsvRow { npa: self.npa, exchange })
    }
}

/// Look up an area code
#[utoipa::path(
    get, path = "/v1/npa/{npa}", operation_id = "getAreaCode", tag = "Look up",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Option<Nxx>, Query, description = "3-digit exchange code; restricts the result to that exchange"),
        IncludeCommonName, Page, VersionParam, AsOf, FormatParam
    ),
    responses(
        (status = 200, description = "The area code and a page of its exchanges", body = AreaCodeResult),
        ApiError
    )
)]
async fn area_code_by_path(
    State(app): State<App>,
    PathParams([npa]): PathParams<1>,
    as_of: AsOf,
    request: ListRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    area_code_or_exchange(&app, parse_param("npa", &npa)?, as_of, request).await
}

/// Look up an exchange
#[utoipa::path(
    get, path = "/v1/npa/{npa}/nxx/{nxx}", operation_id = "getExchange", tag = "Look up",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Nxx, Path, description = "3-digit exchange code"), IncludeCommonName, Page, AsOf,
        FormatParam
    ),
    responses((status = 200, description = "The area code and the exchange", body = AreaCodeResult), ApiError)
)]
async fn exchange_by_path(
    State(app): State<App>,
    PathParams([npa, nxx]): PathParams<2>,
    as_of: AsOf,
    request: ListRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa_nxx = NpaNxx { npa: parse_param("npa", &npa)?, nxx: parse_param("nxx", &nxx)? };
    exchange(&app, npa_nxx, as_of, request).await
}

/// Look up an area code or exchange by query
#[utoipa::path(
    get, path = "/v1/npa", operation_id = "getAreaCodeByQuery", tag = "Look up",
    params(
        ("npa" = Npa, Query, description = "3-digit area code"),
        ("nxx" = Option<Nxx>, Query, description = "3-digit exchange code; restricts the result to that exchange"),
        IncludeCommonName, Page, VersionParam, AsOf, FormatParam
    ),
    responses(
        (status = 200, description = "The area code and a page of its exchanges", body = AreaCodeResult),
        ApiError
    )
)]
async fn area_code_by_query(
    State(app): State<App>,
    as_of: AsOf,
    request: ListRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa = request.params.parse("npa")?.ok_or_else(|| {
        ApiError::invalid_param(
            "npa",
            "npa is required. Usage: /v1/npa?npa=<NPA> or /v1/npa?npa=<NPA>&nxx=<NXX>",
        )
    })?;
    area_code_or_exchange(&app, npa, as_of, request).await
}

/// Returns an exchange, or all exchanges in the area code, in the requested version or at the requested time.
async fn area_code_or_exchange(
    app: &App,
    npa: Npa,
    as_of: AsOf,
    request: ListRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    if let Some(nxx) = request.params.parse("nxx")? {
        return exchange(app, NpaNxx { npa, nxx }, as_of, request).await;
    }
    let page = if let Some(past) = app.past(&as_of).await? {
        let page = request.page.slice(past.exchanges_in(npa).into_iter());
        past_page(&past, request, npa, page).await?
    } else {
        let LoadedVersion { version, dataset } = app.dataset_for_listing(&request.version).await?;
        let page = request.page.slice(dataset.exchanges_in(npa));
        let carrier = |ocn| dataset.carrier(ocn);
        page_response(request, Some(&version), dataset.area_code(npa), page, carrier)?
    };
    page.ok_or_else(|| ApiError::no_record(RecordKey::AreaCode(npa)))
}

/// Looks up an exchange and its area code.
async fn exchange(
    app: &App,
    npa_nxx: NpaNxx,
    as_of: AsOf,
    request: ListRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let NpaNxx { npa, .. } = npa_nxx;
    let missing = || ApiError::no_record(RecordKey::Exchange(npa_nxx));
    if let Some(past) = app.past(&as_of).await? {
        let existed = past.existed(RecordKey::Exchange(npa_nxx)).then_some(npa_nxx);
        let page = request.page.slice([existed.ok_or_else(missing)?].into_iter());
        return past_page(&past, request, npa, page).await?.ok_or_else(missing);
    }
    let (version, dataset, exchange) = if request.version.version.is_some() {
        let LoadedVersion { version, dataset } = app.dataset_for_listing(&request.version).await?;
        let exchange = dataset.exchange(npa_nxx);
        (Some(version), dataset, exchange)
    } else {
        let lookups = app.lookups().await?;
        let exchange = lookups.exchange(npa_nxx, Freshness::Fresh).await;
        (None, lookups.into_dataset(), exchange)
    };
    let page = request.page.slice([exchange.ok_or_else(missing)?].into_iter());
    let carrier = |ocn| dataset.carrier(ocn);
    page_response(request, version.as_ref(), dataset.area_code(npa), page, carrier)?
        .ok_or_else(missing)
}

/// Reads an area code and a page of its exchanges as they were; `None` if no report listed the area code. Links on the
/// page stay on the same publication.
async fn past_page(
    past: &Past<'_>,
    request: ListRequest,
    npa: Npa,
    (codes, pagination): (Vec<NpaNxx>, Pagination),
) -> Result<Option<PageResponse<AreaCodeResult>>, ApiError> {
    let own = RecordKey::AreaCode(npa);
    let keys = codes.into_iter().map(RecordKey::Exchange);
    let (mut area_code, mut exchanges) = (None, Vec::new());
    for record in past.records(keys.chain([own])).await?.into_values() {
        match record {
            Record::AreaCode(found) => area_code = Some(found),
            Record::Exchange(exchange) => exchanges.push(exchange),
            Record::Carrier(_) => (),
        }
    }
    let IncludeCommonName(has_names) = IncludeCommonName::parse(&request.params)?;
    let holders = exchanges.iter().filter(|_| has_names).filter_map(|exchange| exchange.ocn);
    let holders = past.records(holders.map(RecordKey::Carrier)).await?;
    let carrier = |ocn| match holders.get(&RecordKey::Carrier(ocn)) {
        Some(Record::Carrier(carrier)) => Some(carrier.clone()),
        _ => None,
    };
    let uri = pin(&request.uri, "as_of", past.published_at);
    let request = ListRequest { uri, ..request };
    page_response(request, None, area_code, (exchanges, pagination), carrier)
}

/// The response with a page of an area code's exchanges; `None` unless the area code is in service and a report lists
/// its exchanges.
fn page_response(
    request: ListRequest,
    version: Option<&Version>,
    area_code: Option<AreaCode>,
    (exchanges, pagination): (Vec<Exchange>, Pagination),
    carrier: impl Fn(Ocn) -> Option<Carrier>,
) -> Result<Option<PageResponse<AreaCodeResult>>, ApiError> {
    let include = IncludeCommonName::parse(&request.params)?;
    let Some((country, area_code)) = area_code.and_then(|it| Some((it.reported_country()?, it)))
    else {
        return Ok(None);
    };
    let AreaCode { npa, state, total_exchanges, .. } = area_code;
    let row = |exchange: Exchange| {
        let name = include.name_of(exchange.ocn, &carrier);
        ExchangeRow::new(exchange, name)
    };
    let exchanges = exchanges.into_iter().map(row).collect();
    let body = AreaCodeResult {
        npa,
        state,
        country,
        total_exchanges,
        exchanges,
        pagination,
        has_common_names: include.0,
    };
    Ok(Some(request.response(version, body, pagination)))
}
