//! Search over every exchange, by words and exact filters (spec 4.7).

use axum::{extract::State, http::Uri};
use numbering::dataset::Search;
use numbering::records::{CarrierType, Country, Exchange, Npa, Nxx, Ocn, StateCode, Status};
use numbering::time::today;
use serde::Serialize;
use shared::{
    app::Routes,
    errors::{ApiError, ErrorBody},
    pagination::{OfVersion, Page, Paged, Pagination},
    params::Params,
    state::App,
};
use store::LoadedVersion;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

pub fn routes() -> Routes {
    OpenApiRouter::default().routes(routes!(search)).into()
}

/// An exchange that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Found {
    /// 3-digit area code.
    #[schema(value_type = String, example = "415")]
    pub npa: Npa,
    /// 3-digit exchange code.
    #[schema(value_type = String, example = "234")]
    pub nxx: Nxx,
    /// Operating Company Number of the holder.
    #[schema(value_type = Option<String>, example = "6010")]
    pub ocn: Option<Ocn>,
    pub company_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    pub rate_center: Option<String>,
    /// State or province code.
    #[schema(value_type = Option<String>, example = "CA")]
    pub state: Option<StateCode>,
    pub country: Country,
    pub status: Status,
}

impl From<Exchange> for Found {
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

#[derive(Debug, Serialize, ToSchema)]
pub struct SearchResult {
    pub results: Vec<Found>,
    pub pagination: Pagination,
}

/// What to look for; at least one is required, and each that is given has to hold.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the parameters; `Search` holds their values")]
struct Parameters {
    /// Words, each the beginning of a word of a company name, common name or rate center.
    q: Option<String>,
    /// 3-digit area code.
    npa: Option<String>,
    /// 3-digit exchange code.
    nxx: Option<String>,
    /// Operating Company Number of the holder of the exchange or of a thousands block of it.
    ocn: Option<String>,
    /// Whole company name or common name of such a holder, without case.
    company: Option<String>,
    /// Whole rate center, without case.
    rate_center: Option<String>,
    /// State or province code.
    state: Option<String>,
    country: Option<Country>,
    r#type: Option<CarrierType>,
    status: Option<Status>,
}

const REQUIRED: &str = "at least one of q, npa, nxx, ocn, company, rate_center, state, country, \
                        type and status is required. Usage: /v1/search?q=<WORDS>";

/// Search exchanges
#[utoipa::path(
    get, path = "/v1/search", tag = "Search", params(Parameters, Page, OfVersion),
    responses((status = 200, body = SearchResult), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody))
)]
async fn search(
    State(app): State<App>,
    uri: Uri,
    page: Page,
    of_version: OfVersion,
    params: Params,
) -> Result<Paged<SearchResult>, ApiError> {
    let search = parse(&params)?;
    let LoadedVersion { version, dataset } = app.listed(&of_version).await?;
    let (found, pagination) = page.of_items(dataset.search(&search, today()));
    let results = found.into_iter().map(|found| Exchange::from(found).into()).collect();
    Ok(Paged {
        uri,
        pagination,
        version: Some(version.to_string()),
        body: SearchResult { results, pagination },
    })
}

fn parse(params: &Params) -> Result<Search, ApiError> {
    let search = Search {
        words: params.parsed("q")?,
        npa: params.parsed("npa")?,
        nxx: params.parsed("nxx")?,
        ocn: params.parsed("ocn")?,
        company: params.text("company")?,
        rate_center: params.text("rate_center")?,
        state: params.parsed("state")?,
        country: params.one_of("country")?,
        carrier_type: params.one_of("type")?,
        status: params.one_of("status")?,
    };
    match search == Search::default() {
        true => Err(ApiError::invalid(REQUIRED)),
        false => Ok(search),
    }
}
