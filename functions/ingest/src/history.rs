//! Adds a publication to the history: its difference from the one before, and a change for each record.
//!
//! Everything is written before the manifest, under keys that contain the publication's unique ID. The history follows
//! from the manifest, so it never refers to a publication that was not written completely, or that was overtaken.

use std::time::Instant;

use jiff::{Timestamp, ToSpan};
use store::{HistoryItem, ItemWrite, Publication, PublishedDifference, Store};

use crate::{
    IngestError, Progress,
    changes::Changes,
    item_writes::write_items,
    options::{Clock, before_deadline},
};

/// A publication's addition to the history.
pub(crate) struct Addition<'a> {
    pub predecessor: &'a Publication,
    pub changes: &'a Changes,
    /// Days the publication stays in the history; 0 adds nothing.
    pub days: u16,
}

impl Addition<'_> {
    /// The end of a publication's time in the history.
    fn ends_at(&self, publication: &Publication) -> Timestamp {
        publication.at + (24 * i64::from(self.days)).hours()
    }

    /// Writes the changes and the difference. Sets the publication's time in between, since the changes may take minutes.
    pub async fn write(
        &self,
        store: &Store,
        publication: &mut Publication,
        clock: Clock,
        deadline: Option<Instant>,
        progress: &impl Fn(Progress),
    ) -> Result<(), IngestError> {
        if self.days == 0 {
            return Ok(());
        }
        let ends_at = self.ends_at(publication);
        let writes = self.changes.pairs().map(|pair| {
            let publication = publication.clone();
            ItemWrite::AddChange(HistoryItem { publication, pair, ends_at })
        });
        write_items(store, "Writing the history", writes, deadline, progress).await?;
        let packed = self.changes.difference().pack()?;
        publication.at = clock.now();
        let difference = PublishedDifference::new(
            publication.clone(),
            self.predecessor.clone(),
            self.changes.total() as u32,
            &packed,
            self.ends_at(publication),
        );
        before_deadline(deadline, store.write_difference(&difference, &packed)).await??;
        Ok(())
    }
}
