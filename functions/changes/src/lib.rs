//! Lists what imports and rollbacks changed, and the history of a carrier or exchange.

mod atom;
mod filter;
mod output;
mod record_history;
mod since;
#[cfg(test)]
mod tests;

use std::pin::pin;

use axum::{extract::State, http::Uri, response::Response};
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use numbering::{
    changes::{Difference, RecordChange, RecordPair},
    records::Version,
};
use serde::Serialize;
use shared::{
    errors::{ApiError, ListError},
    pagination::{Page, Pagination, pin},
    params::Params,
    public_address::PublicAddress,
    route,
    routes::Routes,
    state::App,
};
use store::{History, Publication, PublishedDifference, StoreError};
use utoipa::ToSchema;

use self::{
    filter::Filter,
    output::{ChangesFormat, FormatParam},
    since::Since,
};

/// Differences to read ahead.
const CONCURRENT_READS: usize = 4;

/// This function's routes.
pub fn routes() -> Routes {
    Routes::new([
        route!(list_changes),
        route!(record_history::exchange_history),
        route!(record_history::carrier_history),
    ])
}

/// A version, and when it became current.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PublishedVersion {
    #[schema(value_type = String, example = "20261121T090003Z-5fGh2kLmN8pQrS1t")]
    pub version: Version,
    #[schema(value_type = String, format = DateTime, example = "2026-11-21T09:00:41Z")]
    pub published_at: Timestamp,
}

impl From<&Publication> for PublishedVersion {
    fn from(publication: &Publication) -> Self {
        Self { version: publication.version.clone(), published_at: publication.at }
    }
}

/// A change to a record, and the version that made it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeRow {
    #[serde(flatten)]
    pub published: PublishedVersion,
    #[serde(flatten)]
    pub change: RecordChange,
    /// Unique, unlike the version, which a rollback publishes again.
    #[serde(skip)]
    publication: Version,
}

impl ChangeRow {
    /// `None` if the record did not change.
    fn new(publication: &Publication, pair: &RecordPair) -> Option<Self> {
        let change = pair.description()?;
        Some(Self { published: publication.into(), change, publication: publication.id.clone() })
    }
}

/// A page of changes.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeList {
    /// The version that the changes start from.
    pub since: PublishedVersion,
    /// The version that they lead to. Pass it as `since` the next time.
    pub until: PublishedVersion,
    pub changes: Vec<ChangeRow>,
    pub pagination: Pagination,
}

/// List changes
///
/// What each import and rollback added, removed and changed, with values before and after. Oldest first, so that pages stay
/// the same while new versions are published; in each version, carriers come first, then area codes and exchanges. A feed
/// (`format=atom`) has the newest first.
#[utoipa::path(
    get, path = "/v1/changes", operation_id = "listChanges", tag = "Changes",
    params(Since, Filter, Page, FormatParam),
    responses(
        (
            status = 200, description = "A page of changes",
            content(
                (ChangeList = "application/json"),
                (String = "text/csv"),
                (String = "application/x-ndjson"),
                (String = "application/atom+xml")
            )
        ),
        ListError
    )
)]
async fn list_changes(
    State(app): State<App>,
    uri: Uri,
    address: PublicAddress,
    page: Page,
    FormatParam { format }: FormatParam,
    params: Params,
) -> Result<Response, ApiError> {
    let filter = Filter::parse(&params)?;
    let (history, position) = Since::parse(&params)?.find(&app).await?;
    let differences = history.differences_after(position);
    let since = history.publication(position).unwrap_or(history.start());
    let (changes, total) = if format == ChangesFormat::Atom {
        newest(&app, differences, &filter, page).await?
    } else {
        oldest(&app, differences, &filter, page).await?
    };
    let pagination = Pagination { limit: page.limit, offset: page.offset, total };
    // The default depends on the time.
    let uri = pin(&uri, "since", params.text("since")?.unwrap_or(since.at.to_string()));
    let list = list(&history, since, changes, pagination);
    Ok(output::response(format, uri, &address, &filter.to_string(), list))
}

fn list(
    history: &History,
    since: &Publication,
    changes: Vec<ChangeRow>,
    pagination: Pagination,
) -> ChangeList {
    let (since, until) = (since.into(), history.current().into());
    ChangeList { since, until, changes, pagination }
}

/// Reads a difference, if it is needed.
async fn read<'a>(
    app: &App,
    published: &'a PublishedDifference,
    is_needed: bool,
) -> Result<(&'a PublishedDifference, Option<Difference>), StoreError> {
    let difference = if is_needed { Some(app.store.difference(published).await?) } else { None };
    Ok((published, difference))
}

/// The matching changes on a page, oldest first, and their total number. Without a filter, only reads the differences on
/// the page.
async fn oldest(
    app: &App,
    differences: &[PublishedDifference],
    filter: &Filter,
    page: Page,
) -> Result<(Vec<ChangeRow>, usize), ApiError> {
    let (mut rows, mut total) = (Vec::new(), 0);
    let mut start = 0;
    let reads = differences.iter().map(|published| {
        let range = start..start + published.changes as usize;
        start = range.end;
        let is_on_page = range.end > page.offset && range.start < page.offset + page.limit;
        read(app, published, is_on_page || !filter.is_empty())
    });
    let reads: Vec<_> = reads.collect();
    let mut reads = pin!(stream::iter(reads).buffered(CONCURRENT_READS));
    while let Some((published, difference)) = reads.try_next().await? {
        let Some(difference) = difference else {
            total += published.changes as usize;
            continue;
        };
        for pair in difference.changes().filter(|pair| filter.matches(pair)) {
            if total >= page.offset && rows.len() < page.limit {
                rows.extend(ChangeRow::new(&published.publication, &pair));
            }
            total += 1;
        }
    }
    Ok((rows, total))
}

/// The newest matching changes, newest first. Their total is at most one more than the page's end, since older differences
/// are not read.
async fn newest(
    app: &App,
    differences: &[PublishedDifference],
    filter: &Filter,
    page: Page,
) -> Result<(Vec<ChangeRow>, usize), ApiError> {
    let end = page.offset.saturating_add(page.limit);
    let (mut rows, mut total) = (Vec::new(), 0);
    let reads: Vec<_> = differences.iter().rev().map(|it| read(app, it, true)).collect();
    let mut reads = pin!(stream::iter(reads).buffered(CONCURRENT_READS));
    while let Some((published, difference)) = reads.try_next().await? {
        let changes = difference.iter().flat_map(Difference::changes);
        for pair in changes.filter(|pair| filter.matches(pair)) {
            if total > end {
                return Ok((rows, total));
            }
            if total >= page.offset && rows.len() < page.limit {
                rows.extend(ChangeRow::new(&published.publication, &pair));
            }
            total += 1;
        }
    }
    Ok((rows, total))
}
