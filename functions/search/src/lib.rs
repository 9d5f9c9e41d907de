//! Search over every exchange, by words and exact filters (spec 4.7).

use axum::{extract::State, http::Uri};
use jiff::civil::Date;
use serde::Serialize;
use shared::{
    app::{App, Routes},
    dataset::Search,
    errors::{ApiError, ErrorBody},
    pagination::{OfVersion, Page, Paged, Pagination},
    params::Params,
    records::{BlockHolder, CarrierType, Country, Exchange, Npa, Nxx, Ocn, State as Place, Status},
    time::today,
};
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
    pub state: Option<Place>,
    pub country: Country,
    pub status: Status,
    /// The thousands blocks that somebody holds today.
    pub blocks: Vec<FoundBlock>,
}

/// A thousands block of an exchange that was found, and who holds it.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundBlock {
    /// The first digit of its numbers' last four.
    #[schema(example = 3)]
    pub block: u8,
    /// Operating Company Number of the holder.
    #[schema(value_type = String, example = "6010")]
    pub ocn: Ocn,
    pub company_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    /// Where its numbers are; `null` where the source leaves that to the exchange.
    pub rate_center: Option<String>,
}

impl FoundBlock {
    fn of(block: u8, holder: BlockHolder) -> Self {
        let BlockHolder { ocn, company_name, carrier_type, rate_center, effective: _ } = holder;
        Self { block, ocn, company_name, carrier_type, rate_center }
    }
}

impl Found {
    fn on(today: Date, exchange: Exchange) -> Self {
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
            blocks,
        } = exchange;
        let blocks = blocks
            .into_iter()
            .filter(|(_, holder)| holder.is_effective_on(today))
            .map(|(digit, holder)| FoundBlock::of(digit, holder))
            .collect();
        Self {
            npa,
            nxx,
            ocn,
            company_name,
            carrier_type,
            rate_center,
            state,
            country,
            status,
            blocks,
        }
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
    let (version, dataset) = app.listed(&of_version).await?;
    let today = today();
    let (found, pagination) = page.of_items(dataset.search(&search, today));
    let results = found.into_iter().map(|found| Found::on(today, found.into())).collect();
    Ok(Paged {
        uri,
        pagination,
        version: Some(version),
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
