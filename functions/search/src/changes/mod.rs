//! Lists what imports and rollbacks changed, and the history of a carrier or exchange.

mod atom;
mod filter;
mod output;
pub mod record_history;
mod since;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, pin::pin};

use axum::{extract::State, http::Uri, response::Response};
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use numbering::{
    changes::{ChangeKind, Difference, FieldChange, RecordChange, RecordKind, RecordPair},
    records::Version,
};
use serde::Serialize;
use shared::{
    errors::{ApiError, ListError},
    pagination::{Page, Pagination, pin},
    params::Params,
    public_address::PublicAddress,
    state::App,
};
use store::{Publication, PublishedDifference, StoreError};
use utoipa::ToSchema;

use self::{
    atom::FeedAddress,
    filter::Filter,
    output::{ChangesFormat, FormatParam},
    since::Since,
};

/// The maximum number of differences for one request, so that its cost is limited.
const MAX_PUBLICATIONS: usize = 100;
/// Differences to read ahead.
const CONCURRENT_READS: usize = 4;

/// A version that became current.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PublishedVersion {
    /// Unique: a rollback publishes a version again.
    #[schema(value_type = String, example = "20261121T090003Z-5fGh2kLmN8pQrS1t")]
    pub publication: Version,
    #[schema(value_type = String, example = "20261121T090003Z-5fGh2kLmN8pQrS1t")]
    pub version: Version,
    #[schema(value_type = String, format = DateTime, example = "2026-11-21T09:00:41Z")]
    pub published_at: Timestamp,
}

impl From<&Publication> for PublishedVersion {
    fn from(publication: &Publication) -> Self {
        let Publication { id, version, at, .. } = publication.clone();
        Self { publication: id, version, published_at: at }
    }
}

/// A change to a record, and the version that made it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeRow {
    /// Unique: a rollback publishes a version again.
    #[schema(value_type = String, example = "20261121T090003Z-5fGh2kLmN8pQrS1t")]
    pub publication: Version,
    #[schema(value_type = String, example = "20261121T090003Z-5fGh2kLmN8pQrS1t")]
    pub version: Version,
    #[schema(value_type = String, format = DateTime, example = "2026-11-21T09:00:41Z")]
    pub published_at: Timestamp,
    pub change: ChangeKind,
    pub kind: RecordKind,
    /// An NPA-NXX, an NPA or an OCN.
    #[schema(example = "415-555")]
    pub key: String,
    /// The fields that differ, by name. A nested field has a dotted name, such as `exchanges.by_state.CA`. Arrays differ as
    /// a whole.
    pub fields: BTreeMap<String, FieldChange>,
}

impl ChangeRow {
    /// `None` if the record did not change.
    fn new(publication: &Publication, pair: &RecordPair) -> Option<Self> {
        let PublishedVersion { publication, version, published_at } = publication.into();
        let RecordChange { change, kind, key, fields } = pair.description()?;
        Some(Self { publication, version, published_at, change, kind, key, fields })
    }
}

/// A page of changes.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeList {
    /// The version that the changes start from.
    pub since: PublishedVersion,
    /// The version that they lead to. Pass its `publication` as `since` to continue.
    pub until: PublishedVersion,
    /// `false` if more changes were published after `until`. One request covers at most 100 publications.
    pub is_current: bool,
    pub changes: Vec<ChangeRow>,
    pub pagination: Pagination,
}

/// List changes
///
/// The records that each import and rollback added, removed and changed, with values before and after. Oldest first, so that pages stay
/// the same while new versions are published; in each version, carriers come first, then area codes and exchanges. The
/// `Link` header leads through all of them. A feed (`format=atom`) has the newest first.
#[utoipa::path(
    get, path = "/v1/changes", operation_id = "listChanges", tag = "Changes",
    params(Since, Filter, Page, FormatParam),
    responses(
        (
            status = 200, description = "A page of changes",
            content(
                (ChangeList = "application/json"),
                (String = "text/csv"),
                (
                    String = "application/x-ndjson",
                    example = json!(concat!(
                        r#"{"publication":"20261121T090003Z-5fGh2kLmN8pQrS1t","#,
                        r#""version":"20261121T090003Z-5fGh2kLmN8pQrS1t","#,
                        r#""published_at":"2026-11-21T09:00:41Z","change":"changed","#,
                        r#""kind":"exchange","key":"415-208","#,
                        r#""fields":{"ocn":{"before":"296C","after":"291L"}}}"#,
                        "\n"
                    ))
                ),
                (String = "application/atom+xml")
            )
        ),
        ListError
    )
)]
pub async fn list_changes(
    State(app): State<App>,
    uri: Uri,
    address: PublicAddress,
    page: Page,
    FormatParam { format }: FormatParam,
    params: Params,
) -> Result<Response, ApiError> {
    let filter = Filter::parse(&params)?;
    let (history, position) = Since::parse(&params)?.find(&app).await?;
    let later = history.differences_after(position);
    let (since, until, (changes, total)) = if format == ChangesFormat::Atom {
        let read = &later[later.len().saturating_sub(MAX_PUBLICATIONS)..];
        let since = read.first().map_or(history.current(), |first| &first.predecessor);
        (since, history.current(), newest(&app, read, &filter, page).await?)
    } else {
        let read = &later[..later.len().min(MAX_PUBLICATIONS)];
        let since = history.publication(position).unwrap_or(history.start());
        let until = read.last().map_or(since, |last| &last.publication);
        (since, until, oldest(&app, read, &filter, page).await?)
    };
    let list = ChangeList {
        since: since.into(),
        until: until.into(),
        is_current: until == history.current(),
        changes,
        pagination: Pagination { limit: page.limit, offset: page.offset, total },
    };
    let feed = FeedAddress::new(address, &uri);
    // The default start depends on the time.
    let uri = pin(&uri, "since", &since.id);
    Ok(output::response(format, uri, &feed, &filter.to_string(), list))
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
