//! Lists the holders of exchanges and thousands blocks, with counts.

use axum::extract::State;
use numbering::{
    dataset::{Dataset, Holder, Search},
    records::{Npa, StateCode, Status},
    time::today,
};
use serde::Serialize;
use shared::{
    csv_pages::{FormatParam, Rows},
    errors::{ApiError, ListError},
    list::ListRequest,
    pagination::{Page, PageResponse, Pagination, VersionParam},
    state::App,
};
use utoipa::ToSchema;

/// A page of holders.
#[derive(Debug, Serialize, ToSchema)]
pub struct HolderList {
    pub holders: Vec<Holder>,
    pub pagination: Pagination,
}

impl Rows for HolderList {
    const COLUMNS: &'static [&'static str] =
        &["ocn", "company_name", "common_name", "carrier_type", "exchanges", "blocks"];

    fn rows(&self) -> impl Iterator<Item = impl Serialize> {
        self.holders.iter()
    }
}

/// Count exchanges by holder
///
/// The holders of the assigned exchanges that match every filter, those with the most exchanges first. Without a filter,
/// all of these count. Numbers may have been ported to other carriers.
#[utoipa::path(
    get, path = "/v1/holders", operation_id = "listHolders", tag = "Carriers",
    params(
        ("npa" = Option<Npa>, Query, description = "3-digit area code."),
        ("state" = Option<StateCode>, Query, description = "State or province code."),
        ("rate_center" = Option<String>, Query, description = "Full rate center name. Case, accents and punctuation are ignored."),
        Page, VersionParam, FormatParam
    ),
    responses(
        (
            status = 200, description = "A page of holders",
            content((HolderList = "application/json"), (String = "text/csv"))
        ),
        ListError
    )
)]
pub async fn list_holders(
    State(app): State<App>,
    request: ListRequest,
) -> Result<PageResponse<HolderList>, ApiError> {
    let params = &request.params;
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
    request.list(&app, select).await
}
