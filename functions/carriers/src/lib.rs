//! Lists carriers, looks one up by its Operating Company Number, and counts the exchanges and blocks of each.

#[cfg(test)]
mod tests;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use numbering::{
    dataset::{CarrierSearch, Dataset, Holder, Search},
    ranges::RangeHolder,
    records::{
        Carrier, CarrierType, Country, Npa, Ocn, OwnedExchanges, RecordKey, StateCode, Status,
    },
    time::today,
};
use serde::Serialize;
use shared::{
    csv_pages::Rows,
    errors::{ApiError, ListError},
    json::json_response,
    pagination::{ListRequest, Page, PageResponse, Pagination},
    params::{Params, PathParams, parse_param},
    past_time::AsOf,
    route,
    routes::Routes,
    state::App,
};
use utoipa::ToSchema;

pub fn routes() -> Routes {
    Routes::new([
        route!(list),
        route!(carrier_by_query),
        route!(carrier_by_path),
        route!(list_holders),
    ])
}

/// A carrier without its exchanges.
#[derive(Debug, Serialize, ToSchema)]
pub struct CarrierSummary {
    pub ocn: Ocn,
    /// Full legal company name; `null` if no source provides it.
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub company_name: Option<String>,
    /// Common or trade name; `null` unless it differs from the company name.
    #[schema(required, example = "AT&T Mobility")]
    pub common_name: Option<String>,
    /// `null` if no source provides it.
    #[schema(required)]
    pub carrier_type: Option<CarrierType>,
    /// State or province where the carrier has the most exchanges; `null` if unknown.
    #[schema(required)]
    pub state: Option<StateCode>,
    pub country: Country,
}

impl From<Carrier> for CarrierSummary {
    fn from(carrier: Carrier) -> Self {
        let Carrier { ocn, company_name, common_name, carrier_type, state, country, .. } = carrier;
        Self { ocn, company_name, common_name, carrier_type, state, country }
    }
}

/// A carrier with its exchange counts.
#[derive(Debug, Serialize, ToSchema)]
pub struct CarrierDetail {
    #[serde(flatten)]
    pub summary: CarrierSummary,
    pub exchanges: OwnedExchanges,
}

impl From<Carrier> for CarrierDetail {
    fn from(carrier: Carrier) -> Self {
        Self { exchanges: carrier.exchanges.clone(), summary: carrier.into() }
    }
}

/// A page of carriers.
#[derive(Debug, Serialize, ToSchema)]
pub struct CarrierList {
    pub carriers: Vec<CarrierSummary>,
    pub pagination: Pagination,
}

impl Rows for CarrierList {
    const COLUMNS: &'static str = "ocn company_name common_name carrier_type state country";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.carriers.iter()
    }
}

fn parse_filter(params: &Params) -> Result<CarrierSearch, ApiError> {
    Ok(CarrierSearch {
        words: params.parse("q")?,
        country: params.parse_variant("country")?,
        state: params.parse("state")?,
        carrier_type: params.parse_variant("type")?,
    })
}

/// List carriers
///
/// Ordered by OCN. With `q`, names equal to the whole query come first, then names that start with it, then the rest.
/// Ties go to the carrier with more exchanges.
#[utoipa::path(
    get, path = "/v1/carriers", operation_id = "listCarriers", tag = "Lists and pages",
    params(CarrierSearch, ListRequest),
    responses((status = 200, description = "A page of carriers", body = CarrierList), ListError)
)]
async fn list(
    State(app): State<App>,
    request: ListRequest,
) -> Result<PageResponse<CarrierList>, ApiError> {
    let search = parse_filter(&request.params)?;
    let select = |dataset: &Dataset, page: Page| {
        let (carriers, pagination) = page.slice(dataset.carriers_matching(&search));
        let carriers = carriers.into_iter().map(CarrierSummary::from).collect();
        (CarrierList { carriers, pagination }, pagination)
    };
    request.list(&app, select).await
}

/// Look up a carrier
#[utoipa::path(
    get, path = "/v1/carrier/{ocn}", operation_id = "getCarrier", tag = "Look up",
    params(("ocn" = Ocn, Path, description = "Operating Company Number; case-insensitive"), AsOf),
    responses((status = 200, description = "The carrier", body = CarrierDetail), ApiError)
)]
async fn carrier_by_path(
    State(app): State<App>,
    PathParams([ocn]): PathParams<1>,
    as_of: AsOf,
) -> Result<Response, ApiError> {
    carrier(&app, &ocn, as_of).await
}

/// Look up a carrier by query
#[utoipa::path(
    get, path = "/v1/carrier", operation_id = "getCarrierByQuery", tag = "Look up",
    params(("ocn" = Ocn, Query, description = "Operating Company Number; case-insensitive"), AsOf),
    responses((status = 200, description = "The carrier", body = CarrierDetail), ApiError)
)]
async fn carrier_by_query(
    State(app): State<App>,
    params: Params,
    as_of: AsOf,
) -> Result<Response, ApiError> {
    let ocn = params.text("ocn")?.ok_or_else(|| {
        ApiError::invalid_param("ocn", "ocn is required. Usage: /v1/carrier?ocn=<OCN>")
    })?;
    carrier(&app, &ocn, as_of).await
}

async fn carrier(app: &App, ocn: &str, as_of: AsOf) -> Result<Response, ApiError> {
    let ocn: Ocn = parse_param("ocn", ocn)?;
    let carrier = match app.past(&as_of).await? {
        None => app.lookups().await?.carrier(ocn).await,
        Some(past) => past.carrier(ocn).await?,
    };
    let carrier = carrier.ok_or_else(|| ApiError::no_record(RecordKey::Carrier(ocn)))?;
    Ok(json_response(&CarrierDetail::from(carrier)))
}

/// A page of holders.
#[derive(Debug, Serialize, ToSchema)]
pub struct HolderList {
    #[schema(value_type = Vec<AnyHolder>)]
    pub holders: Vec<Holder>,
    pub pagination: Pagination,
}

impl Rows for HolderList {
    const COLUMNS: &'static str = "ocn company_name common_name carrier_type exchanges blocks";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.holders.iter()
    }
}

/// A page of the holders of a country's ranges.
#[derive(Debug, Serialize)]
pub struct RangeHolderList {
    pub holders: Vec<RangeHolder>,
    pub pagination: Pagination,
}

impl Rows for RangeHolderList {
    const COLUMNS: &'static str = "holder ranges numbers";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.holders.iter()
    }
}

/// A holder of exchanges, or of a country's ranges.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum AnyHolder {
    Exchanges(Holder),
    Ranges(RangeHolder),
}

/// Count exchanges by holder
///
/// The holders of the assigned exchanges that match every filter, most exchanges first. Without a filter, all of these
/// count. With `country`, the holders of that country's ranges instead, most numbers first. Numbers may have been ported
/// to other carriers.
#[utoipa::path(
    get, path = "/v1/holders", operation_id = "listHolders", tag = "Lists and pages",
    params(
        ("npa" = Option<Npa>, Query, description = "3-digit area code."),
        ("state" = Option<StateCode>, Query, description = "State or province code."),
        ("rate_center" = Option<String>, Query, description = "Full rate center name. Case, accents and punctuation are ignored."),
        ("country" = Option<String>, Query, description = "ISO 3166-1 alpha-2 code of a country in /v1/countries with data; cannot be combined with the filters above.", pattern = "^[A-Za-z]{2}$", example = "GB"),
        ListRequest
    ),
    responses((status = 200, description = "A page of holders", body = HolderList), ListError, ApiError)
)]
async fn list_holders(State(app): State<App>, request: ListRequest) -> Result<Response, ApiError> {
    let params = &request.params;
    if let Some(country) = params.text("country")? {
        return range_holders(&app, &country, request).await;
    }
    let search = Search {
        npa: params.parse("npa")?,
        state: params.parse("state")?,
        rate_center: params.parse("rate_center")?,
        status: Some(Status::Assigned),
        ..Search::default()
    };
    let select = |dataset: &Dataset, page: Page| {
        let (holders, pagination) = page.slice(dataset.holders(&search, today()).into_iter());
        (HolderList { holders, pagination }, pagination)
    };
    Ok(request.list(&app, select).await?.into_response())
}

async fn range_holders(
    app: &App,
    country: &str,
    request: ListRequest,
) -> Result<Response, ApiError> {
    for filter in ["npa", "state", "rate_center"] {
        if request.params.text(filter)?.is_some() {
            let message = format!("country cannot be combined with {filter}");
            return Err(ApiError::invalid_param("country", message));
        }
    }
    let country = app.country_for_listing(country, &request.version).await?;
    let (holders, pagination) = request.page.slice(country.ranges.holders().into_iter());
    let body = RangeHolderList { holders, pagination };
    let version = &country.data.piece.version;
    Ok(request.response(Some(version), body, pagination).into_response())
}
