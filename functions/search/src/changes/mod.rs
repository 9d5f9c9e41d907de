//! Lists changes made by imports and rollbacks, and the history of a carrier or exchange.

mod atom;
mod filter;
mod output;
pub mod record_history;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::Range, pin::pin};

use axum::{extract::State, http::Uri, response::Response};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use numbering::{
    changes::{ChangeKind, FieldChange, RecordChange, RecordKind, RecordPair},
    records::Version,
};
use serde::Serialize;
use shared::{
    auth::Charge,
    errors::{ApiError, ListError},
    pagination::{Page, Pagination},
    params::Params,
    past::price_for_units,
    public_address::PublicAddress,
    state::App,
};
use store::{Publication, PublishedDifference, StoreError};
use utoipa::ToSchema;

use self::{
    filter::{Filter, Since},
    output::{ChangesFormat, FormatParam},
};

/// The maximum number of differences per request, which limits its cost.
const MAX_PUBLICATIONS: usize = 100;
/// The number of differences to read ahead.
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
    /// The fields that differ, by their names in responses. A nested field has a dotted name, such as
    /// `exchanges.by_state.CA` or `blocks.5.ocn`. Arrays differ as a whole.
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
    /// The start of the history. There are no changes before it. `null` while an earlier part is unreadable.
    #[schema(required, value_type = Option<String>, format = DateTime, example = "2026-11-20T09:00:41Z")]
    pub history_begins_at: Option<Timestamp>,
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
    charge: Charge,
    params: Params,
) -> Result<Response, ApiError> {
    let filter = Filter::parse(&params)?;
    let (history, position) = Since::parse(&params)?.find(&app).await?;
    let later = history.differences_after(position);
    let (since, until, (changes, total)) = if format == ChangesFormat::Atom {
        let read = &later[later.len().saturating_sub(MAX_PUBLICATIONS)..];
        let since = read.first().map_or(history.current(), |first| &first.predecessor);
        (since, history.current(), newest(&app, &charge, read, &filter, page).await?)
    } else {
        let read = &later[..later.len().min(MAX_PUBLICATIONS)];
        let since = history.publication(position).unwrap_or(history.start());
        let until = read.last().map_or(since, |last| &last.publication);
        (since, until, oldest(&app, &charge, read, &filter, page).await?)
    };
    let list = ChangeList {
        since: since.into(),
        until: until.into(),
        is_current: until == history.current(),
        history_begins_at: history.begins_at(),
        changes,
        pagination: Pagination { limit: page.limit, offset: page.offset, total },
    };
    Ok(output::response(format, address, &uri, &filter.to_string(), list))
}

/// Reads the changes in publications that match a filter, in this order, several publications ahead. Charges for each
/// publication before reading it.
fn read<'a>(
    app: &'a App,
    charge: &'a Charge,
    filter: &'a Filter,
    wanted: Vec<&'a PublishedDifference>,
) -> impl Stream<Item = Result<(&'a Publication, Vec<RecordPair>), ApiError>> {
    let units = wanted.iter().scan(0.0, |units, published| {
        *units += published.read_units();
        Some(*units)
    });
    let reads = wanted.iter().copied().zip(units).map(async |(published, units)| {
        charge.raise_to(price_for_units(units)).await?;
        let packed = app.store.packed_difference(published).await;
        let packed = app.history_cache.check(packed)?;
        let matching = app.heavy_work.run(packed.len(), || {
            let difference = published.unpack(&packed)?;
            Ok::<_, StoreError>(difference.changes().filter(|pair| filter.matches(pair)).collect())
        });
        Ok((&published.publication, matching.await??))
    });
    stream::iter(reads.collect::<Vec<_>>()).buffered(CONCURRENT_READS)
}

/// The matching changes on a page, oldest first, and their total number. With a filter, reads the differences that may
/// contain matches; without one, only those on the page.
async fn oldest(
    app: &App,
    charge: &Charge,
    differences: &[PublishedDifference],
    filter: &Filter,
    page: Page,
) -> Result<(Vec<ChangeRow>, usize), ApiError> {
    let mut total = 0;
    let ranges = differences.iter().map(|published| {
        let start = total;
        total += published.keys.len();
        (published, start..total)
    });
    let ranges: Vec<_> = ranges.collect();
    let is_wanted = |(published, range): &&(&PublishedDifference, Range<usize>)| {
        if filter.is_empty() {
            range.end > page.offset && range.start < page.offset + page.limit
        } else {
            filter.may_match(&published.keys)
        }
    };
    let wanted: Vec<_> = ranges.iter().filter(is_wanted).collect();
    let start = match wanted.first() {
        Some((_, range)) if filter.is_empty() => range.start,
        _ => 0,
    };
    let wanted: Vec<_> = wanted.into_iter().map(|(published, _)| *published).collect();
    let units = wanted.iter().map(|published| published.read_units()).sum();
    charge.raise_to(price_for_units(units)).await?;
    let reads = read(app, charge, filter, wanted);
    let (rows, matching) = rows_on_page(reads, page, start..usize::MAX).await?;
    Ok((rows, if filter.is_empty() { total } else { matching }))
}

/// The newest matching changes, newest first. The total is at most one more than the page's end, because older
/// differences are not read.
async fn newest(
    app: &App,
    charge: &Charge,
    differences: &[PublishedDifference],
    filter: &Filter,
    page: Page,
) -> Result<(Vec<ChangeRow>, usize), ApiError> {
    let newest_first = differences.iter().rev();
    let wanted = newest_first.filter(|published| filter.may_match(&published.keys)).collect();
    let end = page.offset.saturating_add(page.limit).saturating_add(1);
    rows_on_page(read(app, charge, filter, wanted), page, 0..end).await
}

/// The changes on a page, and the position after the last change. Does not read changes beyond the end of `positions`.
async fn rows_on_page<'a>(
    reads: impl Stream<Item = Result<(&'a Publication, Vec<RecordPair>), ApiError>>,
    page: Page,
    mut positions: Range<usize>,
) -> Result<(Vec<ChangeRow>, usize), ApiError> {
    let mut rows = Vec::new();
    let mut reads = pin!(reads);
    while let Some((publication, pairs)) = reads.try_next().await? {
        for pair in pairs {
            let Some(position) = positions.next() else { return Ok((rows, positions.end)) };
            if position >= page.offset && rows.len() < page.limit {
                rows.extend(ChangeRow::new(publication, &pair));
            }
        }
    }
    Ok((rows, positions.start))
}
