//! The history of one record.

use axum::extract::State;
use numbering::records::{Npa, NpaNxx, Nxx, Ocn, RecordKey};
use shared::{
    auth::Charge,
    csv_pages::FormatParam,
    errors::ApiError,
    pagination::{ListRequest, Page, PageResponse},
    params::{PathParams, parse_param},
    past,
    state::App,
};

use super::{ChangeList, ChangeRow};

/// List an exchange's changes
///
/// Newest first. An exchange that was removed also has a history.
#[utoipa::path(
    get, path = "/v1/npa/{npa}/nxx/{nxx}/history", operation_id = "listExchangeHistory", tag = "Changes",
    params(
        ("npa" = Npa, Path, description = "3-digit area code"),
        ("nxx" = Nxx, Path, description = "3-digit exchange code"), Page, FormatParam
    ),
    responses((status = 200, description = "A page of the exchange's changes", body = ChangeList), ApiError)
)]
pub async fn exchange_history(
    State(app): State<App>,
    PathParams([npa, nxx]): PathParams<2>,
    charge: Charge,
    request: ListRequest,
) -> Result<PageResponse<ChangeList>, ApiError> {
    let npa_nxx = NpaNxx { npa: parse_param("npa", &npa)?, nxx: parse_param("nxx", &nxx)? };
    history(&app, RecordKey::Exchange(npa_nxx), &charge, request).await
}

/// List a carrier's changes
///
/// Newest first: its names, type, state and exchange counts. A carrier that was removed also has a history.
/// `/v1/changes?ocn=` also lists the exchanges that it gained or lost.
#[utoipa::path(
    get, path = "/v1/carrier/{ocn}/history", operation_id = "listCarrierHistory", tag = "Changes",
    params(
        ("ocn" = Ocn, Path, description = "Operating Company Number; case-insensitive"), Page,
        FormatParam
    ),
    responses((status = 200, description = "A page of the carrier's changes", body = ChangeList), ApiError)
)]
pub async fn carrier_history(
    State(app): State<App>,
    PathParams([ocn]): PathParams<1>,
    charge: Charge,
    request: ListRequest,
) -> Result<PageResponse<ChangeList>, ApiError> {
    history(&app, RecordKey::Carrier(parse_param("ocn", &ocn)?), &charge, request).await
}

async fn history(
    app: &App,
    key: RecordKey,
    charge: &Charge,
    request: ListRequest,
) -> Result<PageResponse<ChangeList>, ApiError> {
    let history = app.history().await?;
    history.check_complete()?;
    let positions: Vec<usize> = history.changes_of(key).rev().collect();
    if positions.is_empty() && app.dataset.get().await?.dataset.record(key).is_none() {
        return Err(ApiError::no_record(key));
    }
    let (positions, pagination) = request.page.slice(positions.into_iter());
    let wanted: Vec<_> = positions.into_iter().map(|position| (position, key)).collect();
    charge.raise_to(past::price_for_records(wanted.len())).await?;
    let pairs = app.history_cache.check(app.store.changes(&history, &wanted).await)?;
    let changes = wanted
        .iter()
        .zip(&pairs)
        .filter_map(|((position, _), pair)| ChangeRow::new(history.publication(*position)?, pair));
    let changes = changes.collect();
    let body = ChangeList {
        since: history.start().into(),
        until: history.current().into(),
        is_current: true,
        history_begins_at: history.begins_at(),
        changes,
        pagination,
    };
    Ok(request.response(None, body, pagination))
}
