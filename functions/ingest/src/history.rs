//! Adds publications to the history: the difference between each one and the previous one, and every record's change.
//!
//! Everything is written before the manifest, under keys that contain the publication's unique ID. Reading the history
//! starts at the manifest, so incomplete or overtaken publications are never part of it.
//!
//! Fresh data matters more than its history. If a difference cannot be written, its version is published without it,
//! and the manifest lists it as unrecorded. The snapshots remain stored until a later import writes the difference.

use std::sync::Arc;

use jiff::ToSpan;
use logging::with_causes;
use numbering::dataset::Dataset;
use store::{
    ItemWrite, Manifest, Publication, PublishedDifference, Snapshot, Store, UnrecordedPublication,
    load,
};

use crate::{
    IngestError, Options, Progress,
    changes::Changes,
    item_writes::write_items,
    notes::Notes,
    options::{Clock, before_deadline, share_of_time},
};

/// The maximum number of unrecorded differences. The manifest is one item, so beyond that the history starts over.
const MAX_UNRECORDED: usize = 30;
pub(crate) const UNRECORDED: &str =
    "changes could not be added to the history; the next import will retry";

pub(crate) struct Recorder<'a, P> {
    pub store: &'a Store,
    pub options: Options,
    pub clock: Clock,
    pub progress: &'a P,
}

impl<P: Fn(Progress)> Recorder<'_, P> {
    /// Adds a manifest's publication to the history, after any that earlier imports could not add. `changes` are the
    /// changes since the replaced manifest's version, if it is readable. Never fails, but may leave some out.
    pub async fn record(
        &self,
        manifest: &mut Manifest,
        replaced: &Manifest,
        changes: Option<&Changes>,
        notes: &mut Notes,
    ) {
        self.set_time(&mut manifest.publication);
        if self.options.history_days == 0 || self.options.restart_history {
            manifest.publication.ends_at = None;
            return;
        }
        let mut earlier = replaced.clone();
        self.record_earlier(&mut earlier, notes).await;
        let (mut unrecorded, predecessor) = (earlier.unrecorded, earlier.publication);
        let written = match changes {
            Some(changes) if unrecorded.is_empty() => {
                self.write(&mut manifest.publication, &predecessor, changes, true).await
            }
            Some(_) => Err("earlier changes are missing".to_owned()),
            None => Err("the version before cannot be read".to_owned()),
        };
        if let Err(error) = written {
            notes.warn(UNRECORDED, error);
            let (publication, before) = (manifest.publication.clone(), replaced.current.clone());
            unrecorded.push(UnrecordedPublication { publication, predecessor, before });
        }
        if unrecorded.len() > MAX_UNRECORDED {
            notes.warn("the history starts over", "too many changes could not be added");
            manifest.publication.ends_at = None;
            unrecorded.clear();
        }
        manifest.unrecorded = unrecorded;
    }

    /// Writes the differences that earlier imports failed to write, oldest first, and removes them from the manifest.
    pub async fn record_earlier(&self, manifest: &mut Manifest, notes: &mut Notes) {
        if self.options.restart_history {
            manifest.unrecorded.clear();
            manifest.publication.ends_at = None;
        }
        while let [first, later @ ..] = &manifest.unrecorded[..] {
            let after = later.first().map_or(&manifest.current, |next| &next.before);
            if let Err(error) = self.record_between(first, after).await {
                notes.warn(UNRECORDED, error);
                break;
            }
            manifest.unrecorded.remove(0);
        }
    }

    async fn record_between(
        &self,
        earlier: &UnrecordedPublication,
        after: &Snapshot,
    ) -> Result<(), String> {
        let load = async |snapshot| -> Result<Arc<Dataset>, String> {
            let loaded = load(self.store, snapshot).await;
            loaded.map(Arc::new).map_err(|error| with_causes(&error))
        };
        let changes = Changes::between(&load(&earlier.before).await?, &load(after).await?);
        let UnrecordedPublication { mut publication, predecessor, .. } = earlier.clone();
        self.write(&mut publication, &predecessor, &changes, false).await
    }

    /// Writes a publication's changes, then its difference. Sets a new publication's time in between, because the
    /// changes may take minutes.
    async fn write(
        &self,
        publication: &mut Publication,
        predecessor: &Publication,
        changes: &Changes,
        is_new: bool,
    ) -> Result<(), String> {
        // The other half is for publishing the version without its history.
        let deadline = || share_of_time(self.options.deadline, 2);
        let written = async {
            let id = publication.clone();
            let writes = changes.pairs().map(|pair| ItemWrite::AddChange(id.clone(), pair));
            let phase = "Writing the history";
            write_items(self.store, phase, writes, deadline(), self.progress).await?;
            if is_new {
                self.set_time(publication);
            }
            let difference = changes.difference();
            let (published, packed) =
                PublishedDifference::pack(publication, predecessor, &difference)?;
            let write = self.store.write_difference(&published, &packed);
            before_deadline(deadline(), write).await??;
            Ok::<(), IngestError>(())
        };
        written.await.map_err(|error| {
            let error = with_causes(&error);
            tracing::error!(error, "changes cannot be added to the history");
            error
        })
    }

    /// Sets the time of a new publication, and the time at which it leaves the history.
    fn set_time(&self, publication: &mut Publication) {
        publication.at = self.clock.now();
        let end = publication.at + (24 * i64::from(self.options.history_days)).hours();
        publication.ends_at = Some(end.as_second());
    }
}
