//! Lists area codes, the exchanges in one, and the blocks of an exchange.

mod area_codes;
mod blocks;
#[cfg(test)]
mod tests;

use axum::{extract::State, http::Uri};
use numbering::records::{
    AreaCode, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, Record, RecordKey, StateCode, Status,
    Version,
};
use serde::Serialize;
use shared::{
    csv_pages::{FormatParam, Rows},
    errors::ApiError,
    lookup::Freshness,
    pagination::{Page, PageResponse, Pagination, VersionParam, pin},
    params::{Params, PathParams, parse_param},
    past::Past,
    past_time::AsOf,
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
        (uri, _, FormatParam { format }): PageRequest,
        version: Option<Version>,
        ReportedAreaCode { area_code, country }: ReportedAreaCode,
        (exchanges, pagination): (Vec<Exchange>, Pagination),
    ) -> PageResponse<Self> {
        let AreaCode { npa, state, total_exchanges, .. } = area_code;
        let version = version.map(|version| version.to_string());
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
        Page, VersionParam, AsOf, FormatParam
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
    as_of: AsOf,
    request: PageRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa = parse_param("npa", &npa)?;
    area_code_or_exchange(&app, &params, &version, as_of, request, npa).await
}

/// Look up an exchange
#[utoipa::path(
    get, path = "/v1/npa/{npa}/nxx/{nxx}", operation_id = "getExchange", tag = "Area codes",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Nxx, Path, description = "3-digit exchange code"), Page, AsOf,
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
    as_of: AsOf,
    request: PageRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa_nxx = NpaNxx { npa: parse_param("npa", &npa)?, nxx: parse_param("nxx", &nxx)? };
    exchange(&app, &VersionParam { version: None }, as_of, request, npa_nxx).await
}

/// Look up an area code or exchange by query
#[utoipa::path(
    get, path = "/v1/npa", operation_id = "getAreaCodeByQuery", tag = "Area codes",
    params(
        ("npa" = Npa, Query, description = "3-digit area code"),
        ("nxx" = Option<Nxx>, Query, description = "3-digit exchange code; restricts the result to that exchange"),
        Page, VersionParam, AsOf, FormatParam
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
    as_of: AsOf,
    request: PageRequest,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let npa = params.parse("npa")?.ok_or_else(|| {
        ApiError::invalid(
            "npa is required. Usage: /v1/npa?npa=<NPA> or /v1/npa?npa=<NPA>&nxx=<NXX>",
        )
    })?;
    area_code_or_exchange(&app, &params, &version, as_of, request, npa).await
}

/// Returns the requested exchange, or all exchanges in the area code, in the requested version or at the requested time.
async fn area_code_or_exchange(
    app: &App,
    params: &Params,
    version: &VersionParam,
    as_of: AsOf,
    request: PageRequest,
    npa: Npa,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    if let Some(nxx) = params.parse("nxx")? {
        return exchange(app, version, as_of, request, NpaNxx { npa, nxx }).await;
    }
    let missing = || ApiError::not_found(format!("No data found for NPA {npa}"));
    if let Some(past) = app.past(&as_of).await? {
        let page = request.1.slice(past.exchanges_in(npa).into_iter());
        return past_page(&past, request, npa, page).await?.ok_or_else(missing);
    }
    let LoadedVersion { version, dataset } = app.dataset_for_listing(version).await?;
    let area_code = dataset.area_code(npa).and_then(ReportedAreaCode::new).ok_or_else(missing)?;
    let page = request.1.slice(dataset.exchanges_in(npa));
    Ok(AreaCodeResult::page_response(request, Some(version), area_code, page))
}

/// Looks up an exchange and its area code.
async fn exchange(
    app: &App,
    version: &VersionParam,
    as_of: AsOf,
    request: PageRequest,
    npa_nxx: NpaNxx,
) -> Result<PageResponse<AreaCodeResult>, ApiError> {
    let NpaNxx { npa, .. } = npa_nxx;
    let missing = || ApiError::not_found(format!("No data found for NPA-NXX {npa_nxx}"));
    if let Some(past) = app.past(&as_of).await? {
        let existed = past.existed(RecordKey::Exchange(npa_nxx)).then_some(npa_nxx);
        let page = request.1.slice([existed.ok_or_else(missing)?].into_iter());
        return past_page(&past, request, npa, page).await?.ok_or_else(missing);
    }
    let (version, area_code, exchange) = if version.version.is_some() {
        let LoadedVersion { version, dataset } = app.dataset_for_listing(version).await?;
        (Some(version), dataset.area_code(npa), dataset.exchange(npa_nxx))
    } else {
        let lookups = app.lookups().await?;
        let exchange = lookups.exchange(npa_nxx, Freshness::Fresh).await;
        (None, lookups.area_code(npa), exchange)
    };
    let area_code = area_code.and_then(ReportedAreaCode::new).ok_or_else(missing)?;
    let page = request.1.slice([exchange.ok_or_else(missing)?].into_iter());
    Ok(AreaCodeResult::page_response(request, version, area_code, page))
}

/// Reads an area code and the exchanges on a page as they were; `None` if no report listed the area code. Links stay on the
/// publication.
async fn past_page(
    past: &Past<'_>,
    (uri, page, format): PageRequest,
    npa: Npa,
    (codes, pagination): (Vec<NpaNxx>, Pagination),
) -> Result<Option<PageResponse<AreaCodeResult>>, ApiError> {
    let own = RecordKey::AreaCode(npa);
    let keys = codes.into_iter().map(RecordKey::Exchange);
    let mut records = past.records(keys.chain([own])).await?;
    let Some(Record::AreaCode(area_code)) = records.remove(&own) else { return Ok(None) };
    let exchanges = records.into_values().filter_map(|record| match record {
        Record::Exchange(exchange) => Some(exchange),
        _ => None,
    });
    let request = (pin(&uri, "as_of", past.published_at), page, format);
    let exchanges = (exchanges.collect(), pagination);
    Ok(ReportedAreaCode::new(area_code)
        .map(|area_code| AreaCodeResult::page_response(request, None, area_code, exchanges)))
}
