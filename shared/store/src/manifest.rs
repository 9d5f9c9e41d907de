//! The manifest: which version of the data is current, and which came before.

use std::fmt;

use aws_sdk_dynamodb::{error::ProvideErrorMetadata, types::AttributeValue};
use jiff::{Timestamp, civil::Date};
use rand::{RngExt, distr::Alphanumeric};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Store, StoreError, client::item};
use numbering::records::{Statistics, Version};

/// Which version of the data is current, and which came before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub revision: Revision,
    pub current: Snapshot,
    /// Older versions whose chunks are still there, the newest first.
    pub retained: Vec<Snapshot>,
}

/// A state of the manifest, drawn anew for each change of it. A change is made on the condition
/// that the revision is still the one it began with, so that none is lost and none is made twice;
/// a revision never comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(String);

/// A version of the data: what it holds, and where it lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub version: Version,
    /// When it was last imported; importing the same files again moves it.
    pub ingested_at: Timestamp,
    pub file_dates: FileDates,
    pub chunks: u32,
    /// SHA-256 of the whole snapshot, in hex.
    pub sha256: String,
    pub statistics: Statistics,
}

/// The dates the sources give themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDates {
    pub nanpa: Option<Date>,
    pub cnac: Option<Date>,
    pub npa_report: Option<Date>,
}

/// A chunk with its key stays below DynamoDB's 400 KB for an item.
pub(crate) const CHUNK_BYTES: usize = 390_000;
/// Older snapshots kept beside the current one: readers may be loading the last, and an operator
/// may want to go back.
const RETAINED: usize = 3;
/// Characters of a revision: 95 bits of chance.
const REVISION_CHARACTERS: usize = 16;

/// SHA-256 of `bytes` in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Revision {
    fn new() -> Self {
        let chance = rand::rng().sample_iter(Alphanumeric).take(REVISION_CHARACTERS);
        Self(chance.map(char::from).collect())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Snapshot {
    /// Describes the snapshot `bytes` of `version`, taken in at `ingested_at`.
    pub fn of(
        version: Version,
        bytes: &[u8],
        statistics: Statistics,
        file_dates: FileDates,
        ingested_at: Timestamp,
    ) -> Self {
        let chunks = bytes.chunks(CHUNK_BYTES).len() as u32;
        Self { version, ingested_at, file_dates, chunks, sha256: sha256(bytes), statistics }
    }
}

impl Manifest {
    /// The manifest that makes `snapshot` follow `replaced`. Of the older versions it retains the
    /// newest three that are `readable`.
    pub fn following(
        replaced: Option<&Self>,
        snapshot: Snapshot,
        readable: impl Fn(&Version) -> bool,
    ) -> Self {
        let older = replaced.into_iter().flat_map(Self::snapshots);
        let older = older.filter(|older| readable(&older.version)).take(RETAINED);
        Self { revision: Revision::new(), current: snapshot, retained: older.cloned().collect() }
    }

    /// The manifest after the files of its current version were imported once more.
    pub fn reimported(&self, ingested_at: Timestamp, file_dates: FileDates) -> Self {
        let current = Snapshot { ingested_at, file_dates, ..self.current.clone() };
        Self { revision: Revision::new(), current, retained: self.retained.clone() }
    }

    /// The manifest that goes back to the version before; `None` if none is retained.
    pub fn rolled_back(&self) -> Option<Self> {
        let (previous, older) = self.retained.split_first()?;
        let current = previous.clone();
        Some(Self { revision: Revision::new(), current, retained: older.to_vec() })
    }

    /// The current snapshot and the retained ones, the newest first.
    pub fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        [&self.current].into_iter().chain(&self.retained)
    }

    /// The snapshot `version`, if it is the current one or retained.
    pub fn snapshot(&self, version: &str) -> Option<&Snapshot> {
        self.snapshots().find(|snapshot| snapshot.version == *version)
    }
}

/// The key of the manifest in the table of datasets.
const MANIFEST: &str = "manifest";

/// The manifest as it is stored. The first import begins with one that names
/// nothing, so that it replaces a revision of its own table, too: if the table is emptied
/// meanwhile, the import cannot publish what it had written there.
#[derive(Debug, Serialize, Deserialize)]
struct StoredManifest {
    revision: Revision,
    current: Option<Snapshot>,
    #[serde(default)]
    retained: Vec<Snapshot>,
}

impl From<StoredManifest> for Option<Manifest> {
    fn from(stored: StoredManifest) -> Self {
        let StoredManifest { revision, current, retained } = stored;
        Some(Manifest { revision, current: current?, retained })
    }
}

impl Store {
    /// The current manifest; `None` before the first import.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer, or the item cannot be read.
    pub async fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        Ok(self.stored_manifest().await?.and_then(Option::from))
    }

    /// The revision that the first import replaces; writes an empty manifest if there is none.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`] if something has been imported already; otherwise if DynamoDB does
    /// not answer, or the item cannot be read.
    pub async fn begin(&self) -> Result<Revision, StoreError> {
        let empty =
            StoredManifest { revision: Revision::new(), current: None, retained: Vec::new() };
        match self.replace_manifest(&empty, None).await {
            // Another import began here, too, or died.
            Err(StoreError::Overtaken) => match self.stored_manifest().await? {
                Some(StoredManifest { revision, current: None, .. }) => Ok(revision),
                _ => Err(StoreError::Overtaken),
            },
            written => written.map(|()| empty.revision),
        }
    }

    /// Makes `manifest` the current one, if `replaced` still is the revision of the current one.
    ///
    /// If the answer is lost, the outcome is looked up, and the change is not made blindly again.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`] if another import or rollback came between. Any other error leaves open whether the change is made, now or later. That does no
    /// harm, since all that the manifest names has been written.
    pub async fn publish(
        &self,
        manifest: &Manifest,
        replaced: &Revision,
    ) -> Result<(), StoreError> {
        let Manifest { revision, current, retained } = manifest.clone();
        let stored = StoredManifest { revision, current: Some(current), retained };
        self.replace_manifest(&stored, Some(replaced)).await
    }

    async fn stored_manifest(&self) -> Result<Option<StoredManifest>, StoreError> {
        self.get(&self.tables.dataset, "id", MANIFEST.to_owned()).await
    }

    async fn replace_manifest(
        &self,
        manifest: &StoredManifest,
        replaced: Option<&Revision>,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let mut attributes = item(table, manifest)?;
        attributes.insert("id".to_owned(), AttributeValue::S(MANIFEST.to_owned()));
        let put = self.client.put_item().table_name(table).set_item(Some(attributes));
        let put = match replaced {
            None => put.condition_expression("attribute_not_exists(id)"),
            Some(replaced) => put
                .condition_expression("revision = :replaced")
                .expression_attribute_values(":replaced", AttributeValue::S(replaced.to_string())),
        };
        let Err(error) = put.send().await else { return Ok(()) };
        // An attempt whose answer was lost may have made the change.
        let current = self.stored_manifest().await;
        if let Ok(Some(current)) = current
            && current.revision == manifest.revision
        {
            return Ok(());
        }
        match error.code() {
            Some("ConditionalCheckFailedException") => Err(StoreError::Overtaken),
            _ => Err(StoreError::call("PutItem", table)(error)),
        }
    }
}
