//! The manifest, which names the current version of the data and the retained ones.

#[cfg(test)]
mod tests;

use std::fmt;

use aws_sdk_dynamodb::{
    error::ProvideErrorMetadata, operation::put_item::builders::PutItemFluentBuilder,
    types::AttributeValue,
};
use jiff::{Timestamp, civil::Date};
use rand::{RngExt, distr::Alphanumeric};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{Store, StoreError, client::item_from_record};
use numbering::records::{Statistics, Version};

/// Names the current data version and the retained ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Changes with each change to the manifest.
    pub revision: Revision,
    /// The version that answers new requests.
    pub current: Snapshot,
    /// Older versions that can still be read, newest first.
    pub retained: Vec<Snapshot>,
}

/// One state of the manifest. Each change draws a new random revision, so none ever recurs. A change is made
/// only if the revision it was prepared for is still in place. So no change is lost or made twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(String);

/// A data version: its contents, and where they are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The version's name.
    pub version: Version,
    /// Time of its last import. Reimporting the same files changes it.
    pub ingested_at: Timestamp,
    /// The dates of the reports it was imported from.
    pub file_dates: FileDates,
    /// The number of chunks that store the snapshot.
    pub chunks: u32,
    /// The hash of the whole snapshot. It detects damage, not forgery: anyone who can write a chunk can write
    /// the manifest.
    pub hash: String,
    /// Counts over its records.
    pub statistics: Statistics,
    /// `true` if an operator confirmed it when a gate objected to its changes. Later imports are compared with
    /// it, not with earlier versions.
    #[serde(default)]
    pub confirmed: bool,
}

/// The dates stated in the reports; `None` for a report without a date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDates {
    pub nanpa: Option<Date>,
    pub cnac: Option<Date>,
    pub npa_report: Option<Date>,
}

/// The report date of the made-up sample, which no published report has.
pub const SAMPLE_DATE: Date = Date::constant(2000, 1, 1);

/// The size of a chunk. With its key it stays below 400 KB, DynamoDB's item limit.
pub const CHUNK_BYTES: usize = 390_000;
/// The number of older versions to retain: readers may be loading one, clients may be reading pages from one,
/// and an operator may roll back to one.
const RETAINED: usize = 3;
/// The length of a revision, which holds 95 random bits.
const REVISION_CHARACTERS: usize = 16;

/// XXH3 of a snapshot, 128 bits in hex. It takes a twentieth of the time of SHA-256.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}

impl Revision {
    fn new() -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(REVISION_CHARACTERS);
        Self(characters.map(char::from).collect())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Snapshot {
    /// Describes the snapshot `bytes` of `version`, imported at `ingested_at`.
    pub fn new(
        version: Version,
        bytes: &[u8],
        statistics: Statistics,
        file_dates: FileDates,
        ingested_at: Timestamp,
    ) -> Self {
        let chunks = bytes.chunks(CHUNK_BYTES).len() as u32;
        let hash = hash_of(bytes);
        Self { version, ingested_at, file_dates, chunks, hash, statistics, confirmed: false }
    }

    /// Returns `true` if it was imported from the made-up sample, which looks like published reports.
    pub fn is_sample(&self) -> bool {
        self.file_dates.nanpa == Some(SAMPLE_DATE)
    }

    /// Returns `true` if it replaces the sample, which then counts as never imported: published data is not
    /// compared with it, and no rollback returns to it.
    pub fn replaces_sample(&self, older: &Self) -> bool {
        older.is_sample() && !self.is_sample()
    }
}

impl Manifest {
    /// The manifest that makes `snapshot` current in place of the one in `replaced`. It retains the newest
    /// three older versions, except unreadable ones and a replaced sample.
    pub fn following(
        replaced: Option<&Self>,
        snapshot: Snapshot,
        is_unreadable: impl Fn(&Version) -> bool,
    ) -> Self {
        let published = replaced.into_iter().flat_map(Self::snapshots);
        let is_kept =
            |older: &&Snapshot| !is_unreadable(&older.version) && !snapshot.replaces_sample(older);
        let retained = published.filter(is_kept).take(RETAINED).cloned().collect();
        Self { revision: Revision::new(), current: snapshot, retained }
    }

    /// The manifest after the current version's files were imported again. Unreadable versions are not
    /// retained.
    pub fn reimported(
        &self,
        ingested_at: Timestamp,
        file_dates: FileDates,
        is_unreadable: impl Fn(&Version) -> bool,
    ) -> Self {
        let current = Snapshot { ingested_at, file_dates, ..self.current.clone() };
        let is_kept = |older: &&Snapshot| !is_unreadable(&older.version);
        let retained = self.retained.iter().filter(is_kept).cloned().collect();
        Self { revision: Revision::new(), current, retained }
    }

    /// The manifest that rolls back to this retained version and drops newer ones; `None` if it is not
    /// retained.
    pub fn rolled_back_to(&self, version: &Version) -> Option<Self> {
        let place = self.retained.iter().position(|older| older.version == *version)?;
        let (target, older) = self.retained[place..].split_first()?;
        let (current, retained) = (target.clone(), older.to_vec());
        Some(Self { revision: Revision::new(), current, retained })
    }

    /// The current snapshot and the retained ones, newest first.
    pub fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        [&self.current].into_iter().chain(&self.retained)
    }

    /// The snapshot `version`, if it is current or retained.
    pub fn snapshot(&self, version: &str) -> Option<&Snapshot> {
        self.snapshots().find(|snapshot| snapshot.version == *version)
    }
}

/// The manifest's key in the dataset table.
const MANIFEST: &str = "manifest";

/// The manifest as stored.
///
/// The first import starts by storing a manifest without a version, so that it too has a revision to replace.
/// If the table is emptied and recreated meanwhile, the revision differs. The import then cannot publish a
/// version whose items are gone.
#[derive(Debug, Serialize, Deserialize)]
struct StoredManifest {
    revision: Revision,
    current: Option<Snapshot>,
    #[serde(default)]
    retained: Vec<Snapshot>,
}

impl StoredManifest {
    /// Creates a manifest without a version, and with a new revision.
    fn empty() -> Self {
        Self { revision: Revision::new(), current: None, retained: Vec::new() }
    }
}

impl Store {
    /// Reads the current manifest; `None` before the first import.
    pub async fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        let stored = self.stored_manifest().await?;
        Ok(stored.and_then(|StoredManifest { revision, current, retained }| {
            Some(Manifest { revision, current: current?, retained })
        }))
    }

    /// The revision that the first import replaces. Writes a manifest without a version if none exists.
    ///
    /// # Errors
    /// Returns [`StoreError::Overtaken`] if something has already been imported, and another error if DynamoDB
    /// does not answer, or the item is unreadable.
    pub async fn first_revision(&self) -> Result<Revision, StoreError> {
        let empty = StoredManifest::empty();
        match self.replace_manifest(&empty, &empty.revision, None).await {
            // Another import has stored the manifest but not published anything yet.
            Err(StoreError::Overtaken) => match self.stored_manifest().await? {
                Some(StoredManifest { revision, current: None, .. }) => Ok(revision),
                _ => Err(StoreError::Overtaken),
            },
            written => written.map(|()| empty.revision),
        }
    }

    /// Replaces an unreadable manifest with one without a version, as before the first import; returns whether
    /// it did. A readable one is left unchanged.
    pub async fn replace_unreadable_manifest(&self) -> Result<bool, StoreError> {
        if !matches!(self.stored_manifest().await, Err(StoreError::Manifest { .. })) {
            return Ok(false);
        }
        let put = self.put_manifest(&StoredManifest::empty())?.send().await;
        put.map(|_| true).map_err(StoreError::call("PutItem", &self.tables.dataset))
    }

    /// Makes `manifest` current, if the current one still has the revision `replaced`.
    ///
    /// If the response is lost, this reads the manifest to learn the outcome. The change is not repeated.
    ///
    /// # Errors
    /// Returns [`StoreError::Overtaken`] if another import or rollback has replaced the manifest. After any
    /// other error, the change may still take effect, now or later. That is harmless, since everything the
    /// manifest names has been written.
    pub async fn publish(
        &self,
        manifest: &Manifest,
        replaced: &Revision,
    ) -> Result<(), StoreError> {
        self.replace_manifest(manifest, &manifest.revision, Some(replaced)).await
    }

    async fn stored_manifest(&self) -> Result<Option<StoredManifest>, StoreError> {
        let stored = self.get(&self.tables.dataset, "id", MANIFEST.to_owned(), true).await;
        stored.map_err(|error| match error {
            StoreError::Item { table, source } => StoreError::Manifest { table, source },
            other => other,
        })
    }

    async fn replace_manifest(
        &self,
        manifest: &impl Serialize,
        revision: &Revision,
        replaced: Option<&Revision>,
    ) -> Result<(), StoreError> {
        let put = self.put_manifest(manifest)?;
        let conditional_put = match replaced {
            None => put.condition_expression("attribute_not_exists(id)"),
            Some(replaced) => put
                .condition_expression("revision = :replaced")
                .expression_attribute_values(":replaced", AttributeValue::S(replaced.to_string())),
        };
        let Err(error) = conditional_put.send().await else { return Ok(()) };
        // An attempt whose response was lost may have made the change.
        if let Ok(Some(current)) = self.stored_manifest().await
            && current.revision == *revision
        {
            return Ok(());
        }
        match error.code() {
            Some("ConditionalCheckFailedException") => Err(StoreError::Overtaken),
            _ => Err(StoreError::call("PutItem", &self.tables.dataset)(error)),
        }
    }

    fn put_manifest(&self, manifest: &impl Serialize) -> Result<PutItemFluentBuilder, StoreError> {
        let table = &self.tables.dataset;
        let id = AttributeValue::S(MANIFEST.to_owned());
        let item = item_from_record(table, Some(("id", id)), manifest)?;
        Ok(self.client.put_item().table_name(table).set_item(Some(item)))
    }
}
