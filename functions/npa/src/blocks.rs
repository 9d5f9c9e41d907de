//! Lists the ten thousands blocks of an exchange.

use axum::extract::State;
use jiff::civil::Date;
use numbering::records::{
    BlockHolder, BlockHolding, CarrierType, Exchange, Npa, NpaNxx, Nxx, Ocn, RecordKey, Status,
};
use serde::Serialize;
use shared::{
    csv_pages::{FormatParam, Rows},
    errors::ApiError,
    lookup::Freshness,
    pagination::{ListRequest, PageResponse, Pagination},
    params::{PathParams, parse_param},
    past_time::AsOf,
    state::App,
};
use utoipa::ToSchema;

/// A thousands block. Numbers may have been ported to other carriers.
#[derive(Debug, Serialize, ToSchema)]
pub struct BlockRow {
    /// The fourth-to-last digit of the block's numbers.
    #[schema(minimum = 0, maximum = 9)]
    pub block: u8,
    /// `UNASSIGNED` if nobody holds the block, or its assignment starts on a later day.
    pub status: Status,
    /// Operating Company Number of the holder, or of the next one until its assignment starts; `null` if the block has
    /// none.
    #[schema(required)]
    pub ocn: Option<Ocn>,
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub company_name: Option<String>,
    #[schema(required)]
    pub carrier_type: Option<CarrierType>,
    #[schema(required, example = "SNFC CNTRL")]
    pub rate_center: Option<String>,
    /// The first day of the assignment; `null` if the report has no date, or the whole exchange has one holder.
    #[schema(required, value_type = Option<String>, format = Date, example = "2026-07-01")]
    pub effective_date: Option<Date>,
}

/// An exchange with its thousands blocks.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExchangeBlocks {
    pub npa: Npa,
    pub nxx: Nxx,
    /// `true` if the blocks are assigned separately.
    pub is_pooled: bool,
    /// All ten blocks.
    pub blocks: Vec<BlockRow>,
}

/// A block as a CSV row, with its exchange.
#[derive(Serialize)]
struct CsvRow<'a> {
    npa: Npa,
    nxx: Nxx,
    #[serde(flatten)]
    block: &'a BlockRow,
}

impl Rows for ExchangeBlocks {
    const COLUMNS: &'static str =
        "npa nxx block status ocn company_name carrier_type rate_center effective_date";

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.blocks.iter().map(|block| CsvRow { npa: self.npa, nxx: self.nxx, block })
    }
}

/// List an exchange's thousands blocks
///
/// If the exchange is not pooled, or no block report was imported, its holder holds all ten.
#[utoipa::path(
    get, path = "/v1/npa/{npa}/nxx/{nxx}/blocks", operation_id = "listBlocks", tag = "Look up",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Nxx, Path, description = "3-digit exchange code"), AsOf, FormatParam
    ),
    responses((status = 200, description = "The exchange's blocks", body = ExchangeBlocks), ApiError)
)]
pub async fn list_blocks(
    State(app): State<App>,
    PathParams([npa, nxx]): PathParams<2>,
    as_of: AsOf,
    request: ListRequest,
) -> Result<PageResponse<ExchangeBlocks>, ApiError> {
    let npa_nxx = NpaNxx { npa: parse_param("npa", &npa)?, nxx: parse_param("nxx", &nxx)? };
    let exchange = match app.past(&as_of).await? {
        None => app.lookups().await?.exchange(npa_nxx, Freshness::Fresh).await,
        Some(past) => past.exchange(npa_nxx).await?,
    };
    let exchange = exchange.ok_or_else(|| ApiError::no_record(RecordKey::Exchange(npa_nxx)))?;
    let today = as_of.date();
    let NpaNxx { npa, nxx } = npa_nxx;
    let body = ExchangeBlocks {
        npa,
        nxx,
        is_pooled: exchange.is_pooled(),
        blocks: (0..10).map(|digit| block_row(&exchange, digit, today)).collect(),
    };
    let pagination = Pagination { limit: 10, offset: 0, total: 10 };
    Ok(request.response(None, body, pagination))
}

fn block_row(exchange: &Exchange, digit: u8, today: Date) -> BlockRow {
    let Exchange { ocn, company_name, carrier_type, rate_center, status, .. } = exchange;
    let own = BlockRow {
        block: digit,
        status: *status,
        ocn: *ocn,
        company_name: company_name.clone(),
        carrier_type: *carrier_type,
        rate_center: rate_center.clone(),
        effective_date: None,
    };
    let (holder, status) = match exchange.holding_on(digit, today) {
        BlockHolding::Exchange => return own,
        BlockHolding::Unassigned => {
            let status = Status::Unassigned;
            return BlockRow { status, ocn: None, company_name: None, carrier_type: None, ..own };
        }
        BlockHolding::Block(holder) => (holder, Status::Assigned),
        BlockHolding::Pending(holder) => (holder, Status::Unassigned),
    };
    let BlockHolder { ocn, company_name, carrier_type, rate_center, effective } = holder.clone();
    BlockRow {
        block: digit,
        status,
        ocn: Some(ocn),
        company_name,
        carrier_type,
        rate_center: rate_center.or(own.rate_center),
        effective_date: effective,
    }
}
