//! The manifest: the item that lists the current version of the data and the retained ones.

#[cfg(test)]
mod tests;

use std::fmt;

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use rand::distr::{Alphanumeric, SampleString};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{
    Countries, ImportedReports, Publication, ReportName, SAMPLE_DATE, Store, StoreError, Table,
    UnrecordedPublication, checksum::Item, client::item_from_record,
};
use numbering::{
    dataset::Dataset,
    records::{Statistics, Version},
};

/// The current version of the data and the retained ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub revision: Revision,
    pub current: Snapshot,
    /// The publication that made the current version current.
    pub publication: Publication,
    /// Older versions that can still be read, newest first.
    pub retained: Vec<Snapshot>,
    /// Publications up to the current one whose differences are not in the history yet, oldest first.
    pub unrecorded: Vec<UnrecordedPublication>,
    /// Other countries' ranges. Imports replace each on its own, and rollbacks leave them unchanged.
    #[serde(default)]
    pub countries: Countries,
}

/// A random id that changes with the manifest. A change is written only if the manifest still has the revision that the
/// change is based on, so no change is lost or made twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(String);

/// A stored version of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub version: Version,
    /// The time of its last import. Importing the same files again updates the time.
    pub ingested_at: Timestamp,
    pub reports: ImportedReports,
    pub chunks: u32,
    /// The hash of the whole snapshot; see [`Piece`].
    pub hash: String,
    pub statistics: Statistics,
    /// `true` if an operator imported it despite a failed gate. Later imports are compared with it, not with
    /// earlier versions.
    #[serde(default)]
    pub confirmed: bool,
}

/// Packed data in chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub version: Version,
    pub chunks: u32,
    /// The hash of all bytes. It detects damage, not forgery: anyone who can write a chunk can also write the manifest.
    pub hash: String,
}

/// The size of a chunk. With its key, a chunk stays below DynamoDB's item limit of 400 KB.
pub const CHUNK_BYTES: usize = 390_000;
/// The maximum number of retained versions. Readers may be loading one, clients may be reading pages from one, and
/// an operator may roll back to one.
const MAX_RETAINED: usize = 3;
/// The length of a revision, enough for 95 random bits.
const REVISION_LENGTH: usize = 16;

/// A snapshot's 128-bit XXH3 hash in hex. XXH3 is 20 times as fast as SHA-256.
pub(crate) fn snapshot_hash(bytes: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(bytes))
}

impl Revision {
    fn new() -> Self {
        Self(Alphanumeric.sample_string(&mut rand::rng(), REVISION_LENGTH))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Piece {
    /// Describes the piece that consists of these bytes.
    pub fn new(version: Version, bytes: &[u8]) -> Self {
        let chunks = bytes.chunks(CHUNK_BYTES).len() as u32;
        Self { version, chunks, hash: snapshot_hash(bytes) }
    }

    /// Returns `true` if it consists of these bytes.
    pub fn has_bytes(&self, bytes: &[u8]) -> bool {
        self.hash == snapshot_hash(bytes)
    }
}

impl Snapshot {
    pub(crate) fn piece(&self) -> Piece {
        Piece { version: self.version.clone(), chunks: self.chunks, hash: self.hash.clone() }
    }

    /// Describes the snapshot that consists of these bytes.
    pub fn new(
        version: Version,
        bytes: &[u8],
        statistics: Statistics,
        reports: ImportedReports,
        ingested_at: Timestamp,
    ) -> Self {
        let Piece { version, chunks, hash } = Piece::new(version, bytes);
        Self { version, ingested_at, reports, chunks, hash, statistics, confirmed: false }
    }

    /// Describes this dataset without its bytes or reports, for tests.
    pub fn of(dataset: &Dataset, version: Version, ingested_at: Timestamp) -> Self {
        Self::new(version, b"", dataset.statistics(), ImportedReports::default(), ingested_at)
    }

    /// Returns `true` if it was imported from the fictional sample.
    pub fn is_sample(&self) -> bool {
        self.reports.date(ReportName::Nanpa) == Some(SAMPLE_DATE)
    }

    /// Returns `true` if this is real data that replaces the sample. The sample is then dropped: real
    /// data is not compared with it, and no rollback returns to it.
    pub fn replaces_sample(&self, older: &Self) -> bool {
        older.is_sample() && !self.is_sample()
    }
}

impl Manifest {
    /// Creates a manifest with `snapshot` as the current version. Retains the newest three versions in `replaced`,
    /// except unreadable ones and a replaced sample.
    pub fn new(
        replaced: Option<&Self>,
        snapshot: Snapshot,
        is_unreadable: impl Fn(&Version) -> bool,
    ) -> Self {
        let number = replaced.map_or(0, |replaced| replaced.publication.number + 1);
        let older = replaced.into_iter().flat_map(Self::snapshots);
        let is_retained =
            |older: &&Snapshot| !is_unreadable(&older.version) && !snapshot.replaces_sample(older);
        let retained = older.filter(is_retained).take(MAX_RETAINED).cloned().collect();
        let (version, at) = (snapshot.version.clone(), snapshot.ingested_at);
        let publication = Publication { id: version.clone(), version, number, at, ends_at: None };
        let (revision, unrecorded) = (Revision::new(), Vec::new());
        let mut countries = replaced.map(|replaced| replaced.countries.clone()).unwrap_or_default();
        countries.0.retain(|_, country| snapshot.is_sample() || !country.is_sample());
        Self { revision, current: snapshot, publication, retained, unrecorded, countries }
    }

    /// The manifest after importing the current version's files again. Drops unreadable versions.
    pub fn after_reimport(
        &self,
        ingested_at: Timestamp,
        reports: ImportedReports,
        is_unreadable: impl Fn(&Version) -> bool,
    ) -> Self {
        let current = Snapshot { ingested_at, reports, ..self.current.clone() };
        let is_readable = |older: &&Snapshot| !is_unreadable(&older.version);
        let retained = self.retained.iter().filter(is_readable).cloned().collect();
        Self { revision: Revision::new(), current, retained, ..self.clone() }
    }

    /// The manifest after a rollback to a retained version, without any newer ones; `None` if it is not retained.
    pub fn after_rollback_to(&self, version: &Version, at: Timestamp) -> Option<Self> {
        let index = self.retained.iter().position(|older| older.version == *version)?;
        let (target, older) = self.retained[index..].split_first()?;
        let (current, retained) = (target.clone(), older.to_vec());
        let number = self.publication.number + 1;
        let (id, version) = (Version::new(at), version.clone());
        let publication = Publication { id, version, number, at, ends_at: None };
        let (revision, unrecorded) = (Revision::new(), Vec::new());
        let countries = self.countries.clone();
        Some(Self { revision, current, publication, retained, unrecorded, countries })
    }

    /// The manifest after importing the ranges of some countries. Each retains the piece that it replaces.
    pub fn with_countries(&self, imported: Countries) -> Self {
        let mut manifest = Self { revision: Revision::new(), ..self.clone() };
        for (code, mut country) in imported.0 {
            country.replaced = self.countries.0.get(&code).and_then(|current| {
                let is_unchanged = current.piece == country.piece;
                if is_unchanged {
                    current.replaced.clone()
                } else {
                    Some(current.piece.version.clone())
                }
            });
            manifest.countries.0.insert(code, country);
        }
        manifest
    }

    /// The current snapshot and the retained ones, newest first.
    pub fn snapshots(&self) -> impl Iterator<Item = &Snapshot> {
        [&self.current].into_iter().chain(&self.retained)
    }

    /// Returns `true` if the version is current, retained, a country's, or needed for a difference that is not in the
    /// history yet.
    pub fn needs(&self, version: &Version) -> bool {
        let unrecorded = self.unrecorded.iter().map(|it| &it.before);
        self.snapshots().chain(unrecorded).any(|snapshot| snapshot.version == *version)
            || self.countries.0.values().any(|country| {
                country.piece.version == *version || country.replaced.as_ref() == Some(version)
            })
    }

    /// The snapshot for `version`, if it is current or retained.
    pub fn snapshot(&self, version: &str) -> Option<&Snapshot> {
        self.snapshots().find(|snapshot| snapshot.version == *version)
    }
}

const MANIFEST: &str = "manifest";

/// The manifest as stored in the table.
///
/// The first import starts by storing a manifest without a version, whose revision can then be replaced. If the table
/// is deleted and recreated in the meantime, the revision differs. The import then fails to publish a version whose
/// items were deleted.
#[derive(Debug, Serialize, Deserialize)]
struct StoredManifest {
    revision: Revision,
    published: Option<Manifest>,
}

impl StoredManifest {
    fn empty() -> Self {
        Self { revision: Revision::new(), published: None }
    }
}

impl Store {
    /// Reads the current manifest; `None` before the first import.
    pub async fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        Ok(self.stored_manifest().await?.and_then(|stored| stored.published))
    }

    /// Returns the revision for the first import to replace, or [`StoreError::Overtaken`] if a version has already been
    /// imported. Stores a manifest without a version if none exists.
    pub async fn initialize_manifest(&self) -> Result<Revision, StoreError> {
        let empty = StoredManifest::empty();
        match self.replace_manifest(&empty, None).await {
            // Another import has stored the manifest, but has not published a version yet.
            Err(StoreError::Overtaken) => match self.stored_manifest().await? {
                Some(StoredManifest { revision, published: None }) => Ok(revision),
                _ => Err(StoreError::Overtaken),
            },
            result => result.map(|()| empty.revision),
        }
    }

    /// Replaces an unreadable manifest with one without a version, as before the first import. Returns
    /// whether it replaced one.
    pub async fn replace_unreadable_manifest(&self) -> Result<bool, StoreError> {
        if !matches!(self.manifest().await, Err(StoreError::Manifest { .. })) {
            return Ok(false);
        }
        let empty = self.manifest_item(&StoredManifest::empty())?;
        self.put(Table::Dataset, empty).await.map(|()| true)
    }

    /// Stores `manifest` if the stored one still has the revision `replaced`, or returns [`StoreError::Overtaken`]. If
    /// the response is lost, reads the manifest to find out whether it was stored. After any other error, the change
    /// may still take effect later. That is harmless, because all of the version's items are written by then.
    pub async fn publish(
        &self,
        manifest: &Manifest,
        replaced: &Revision,
    ) -> Result<(), StoreError> {
        let (revision, published) = (manifest.revision.clone(), Some(manifest.clone()));
        self.replace_manifest(&StoredManifest { revision, published }, Some(replaced)).await
    }

    async fn stored_manifest(&self) -> Result<Option<StoredManifest>, StoreError> {
        let stored = self.get(Table::Dataset, MANIFEST.to_owned(), true).await;
        stored.map_err(|error| match error {
            StoreError::Item { table, source } => StoreError::Manifest { table, source },
            other => other,
        })
    }

    async fn replace_manifest(
        &self,
        manifest: &StoredManifest,
        replaced: Option<&Revision>,
    ) -> Result<(), StoreError> {
        let item = self.manifest_item(manifest)?;
        let replaced = replaced.map(|replaced| AttributeValue::S(replaced.to_string()));
        let put = self.replace_if_unchanged(Table::Dataset, item, "revision", replaced).await;
        if matches!(put, Ok(true)) {
            return Ok(());
        }
        // An attempt whose response was lost may have made the change.
        match self.stored_manifest().await {
            Ok(Some(current)) if current.revision == manifest.revision => Ok(()),
            _ => put.and(Err(StoreError::Overtaken)),
        }
    }

    fn manifest_item(&self, manifest: &StoredManifest) -> Result<Item, StoreError> {
        let id = AttributeValue::S(MANIFEST.to_owned());
        item_from_record(self.tables.name(Table::Dataset), Some(("id", id)), manifest)
    }
}
