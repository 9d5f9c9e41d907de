//! Adds a publication to the history: its difference from the one before, and a change for each record.
//!
//! Everything is written before the manifest, under keys that contain the publication's unique ID. The history follows
//! from the manifest, so it never refers to a publication that was not written completely, or that was overtaken.

use std::time::Instant;

use jiff::{Timestamp, ToSpan};
use store::{HistoryItem, ItemWrite, Publication, PublishedDifference, Store};

use crate::{
    IngestError, Progress, changes::Changes, item_writes::write_items, options::before_deadline,
};

/// A publication to add to the history.
pub(crate) struct Addition<'a> {
    pub publication: &'a Publication,
    pub predecessor: &'a Publication,
    pub changes: &'a Changes,
    /// The end of its time in the history.
    ends_at: Timestamp,
}

impl<'a> Addition<'a> {
    /// `None` if no history is kept.
    pub fn new(
        publication: &'a Publication,
        predecessor: &'a Publication,
        changes: &'a Changes,
        history_days: u16,
    ) -> Option<Self> {
        let ends_at = publication.at + (24 * i64::from(history_days)).hours();
        (history_days > 0).then_some(Self { publication, predecessor, changes, ends_at })
    }

    /// Writes the changes and the difference.
    pub async fn write(
        &self,
        store: &Store,
        deadline: Option<Instant>,
        progress: &impl Fn(Progress),
    ) -> Result<(), IngestError> {
        let Self { publication, predecessor, changes, ends_at } = *self;
        let writes = changes.pairs().map(|pair| {
            let publication = publication.clone();
            ItemWrite::AddChange(HistoryItem { publication, pair, ends_at })
        });
        write_items(store, "Writing the history", writes, deadline, progress).await?;
        let packed = changes.difference().pack()?;
        let difference = PublishedDifference::new(
            publication.clone(),
            predecessor.clone(),
            changes.total() as u32,
            &packed,
            ends_at,
        );
        before_deadline(deadline, store.write_difference(&difference, &packed)).await??;
        Ok(())
    }
}
