//! Lists area codes, the exchanges in one, and the blocks of an exchange.

mod area_codes;
mod blocks;
#[cfg(test)]
mod tests;

use axum::{extract::State, http::Uri};
use numbering::records::{AreaCode, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, StateCode, Status};
use serde::Serialize;
use shared::{
    csv_pages::{FormatParam, Rows},
    errors::ApiError,
    lookup::Freshness,
    pagination::{Page, PageResponse, Pagination, VersionParam},
    params::{Params, PathParams, parse_param},
    route,
    routes::Routes,
    state::App,
};
use store::LoadedVersion;
use utoipa::ToSchema;

/// This function's routes.
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
    /// The place that determines how the exchange's calls are rated.
    #[schema(required, example = "SNFC CNTRL")]
    pub rate_center: Option<String>,
    pub status: Status,
}

impl From<Exchange> for ExchangeRow {
    fn from(exchange: Exchange) -> Self {
        Self {
            nxx: exchange.nxx,
            ocn: exchange.ocn,
            company_name: exchange.company_name,
            rate_center: exchange.rate_center,
            status: exchange.status,
        }
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
}

/// An exchange as a CSV row, which includes the area code.
#[derive(Serialize)]
struct CsvRow<'a> {
    npa: Npa,
    #[serde(flatten)]
    exchange: &'a ExchangeRow,
}

impl Rows for AreaCodeResult {
    const COLUMNS: &'static [&'static str] =
        &["npa", "nxx", "ocn", "company_name", "rate_center", "status"];

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.exchanges.iter().map(|exchange| CsvRow { npa: self.npa, exchange })
    }
}

/// An area code in service whose exchanges are in a report.
struct ReportedAreaCode {
    area_code: AreaCode,
    country: Country,
}

impl ReportedAreaCode {
    fn new(area_code: AreaCode) -> Option<Self> {
        area_code.reported_country().map(|country| Self { area_code, country })
    }
}

/// A request's URL, page and format.
type PageRequest = (Uri, Page, FormatParam);

impl AreaCodeResult {
    fn page_response(
        (uri, page, FormatParam { format }): PageRequest,
        version: Option<String>,
        ReportedAreaCode { area_code, country }: ReportedAreaCode,
        exchanges: impl ExactSizeIterator<Item = Exchange>,
    ) -> PageResponse<Self> {
        let AreaCode { npa, state, total_exchanges, .. } = area_code;
        let (exchanges, pagination) = page.slice(exchanges);
        let body = Self {
            npa,
            state,
            country,
            total_exchanges,
            exchanges: exchanges.into_iter().map(ExchangeRow::from).collect(),
            pagination,
        };
        PageResponse { uri, pagination, version, format, body }
    }
}

/// Look up an area code
#[utoipa::path(
    get, path = "/v1/npa/{npa}", operation_id = "getAreaCode", tag = "Area codes",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Option<Nxx>, Query, description = "3-digit exchange code; restricts the result to that exchange"),
        Page, VersionParam, FormatParam
    ),
    responses(
        (
            status = 200, description = "The area code and a page of its exchanges",
            content((AreaCodeResult = "application/json"), (String = "text/csv"))
        ),
        ApiError
    )
)]
async fn area_code_by_path(
    State(app): State<App>,
    PathParams([npa]): PathParams<1>,
    params: Params,
    version: VersionParam,
    request: PageRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    area_code_or_exchange(&app, &params, &version, request, parse_param("npa", &npa)?).await
}

/// Look up an exchange
#[utoipa::path(
    get, path = "/v1/npa/{npa}/nxx/{nxx}", operation_id = "getExchange", tag = "Area codes",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Nxx, Path, description = "3-digit exchange code"), Page,
        FormatParam
    ),
    responses(
        (
            status = 200, description = "The area code and the exchange",
            content((AreaCodeResult = "application/json"), (String = "text/csv"))
        ),
        ApiError
    )
)]
async fn exchange_by_path(
    State(app): State<App>,
    PathParams([npa, nxx]): PathParams<2>,
    request: PageRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa_nxx = NpaNxx { npa: parse_param("npa", &npa)?, nxx: parse_param("nxx", &nxx)? };
    exchange(&app, &VersionParam { version: None }, request, npa_nxx).await
}

/// Look up an area code or exchange by query
#[utoipa::path(
    get, path = "/v1/npa", operation_id = "getAreaCodeByQuery", tag = "Area codes",
    params(
        ("npa" = Npa, Query, description = "3-digit area code"),
        ("nxx" = Option<Nxx>, Query, description = "3-digit exchange code; restricts the result to that exchange"),
        Page, VersionParam, FormatParam
    ),
    responses(
        (
            status = 200, description = "The area code and a page of its exchanges",
            content((AreaCodeResult = "application/json"), (String = "text/csv"))
        ),
        ApiError
    )
)]
async fn area_code_by_query(
    State(app): State<App>,
    params: Params,
    version: VersionParam,
    request: PageRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa = params.parse("npa")?.ok_or_else(|| {
        ApiError::invalid(
            "npa is required. Usage: /v1/npa?npa=<NPA> or /v1/npa?npa=<NPA>&nxx=<NXX>",
        )
    })?;
    area_code_or_exchange(&app, &params, &version, request, npa).await
}

/// Returns the requested exchange, or all exchanges in the area code.
async fn area_code_or_exchange(
    app: &App,
    params: &Params,
    version: &VersionParam,
    request: PageRequest,
    npa: Npa,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    if let Some(nxx) = params.parse("nxx")? {
        return exchange(app, version, request, NpaNxx { npa, nxx }).await;
    }
    let LoadedVersion { version, dataset } = app.dataset_for_listing(version).await?;
    let area_code = dataset.area_code(npa).and_then(ReportedAreaCode::new);
    let area_code =
        area_code.ok_or_else(|| ApiError::not_found(format!("No data found for NPA {npa}")))?;
    let exchanges = dataset.exchanges_in(npa);
    Ok(AreaCodeResult::page_response(request, Some(version.to_string()), area_code, exchanges))
}

/// Looks up an exchange and its area code, in the requested version if any.
async fn exchange(
    app: &App,
    version: &VersionParam,
    request: PageRequest,
    npa_nxx: NpaNxx,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let (version, area_code, exchange) = if version.version.is_some() {
        let LoadedVersion { version, dataset } = app.dataset_for_listing(version).await?;
        let exchange = dataset.exchange(npa_nxx);
        (Some(version.to_string()), dataset.area_code(npa_nxx.npa), exchange)
    } else {
        let lookups = app.lookups().await?;
        let exchange = lookups.exchange(npa_nxx, Freshness::Fresh).await;
        (None, lookups.area_code(npa_nxx.npa), exchange)
    };
    let area_code = area_code.and_then(ReportedAreaCode::new);
    let (Some(area_code), Some(exchange)) = (area_code, exchange) else {
        return Err(ApiError::not_found(format!("No data found for NPA-NXX {npa_nxx}")));
    };
    Ok(AreaCodeResult::page_response(request, version, area_code, [exchange].into_iter()))
}
