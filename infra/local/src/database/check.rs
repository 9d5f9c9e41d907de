//! Checks an entire database file: its pages, data versions and keys.
//!
//! Commands only check the pages of the database they open. A backup may be the last copy, so all
//! of it is checked.

use std::path::Path;

use dynoxide::actions::list_tables::ListTablesRequest;
use ingest::{IngestError, Repair};
use numbering::records::Version;
use store::{DatasetError, Store, StoreError};

use crate::{
    database::{
        Database, copy,
        damage::{Damage, check},
        damaged_items::Scope,
    },
    error::Cause,
};

/// The contents of a readable database.
#[derive(Debug)]
pub struct Contents {
    /// The current version and its item count; `None` before the first import.
    pub current: Option<(Version, usize)>,
    pub keys: usize,
    /// The unreadable retained versions.
    pub unreadable: Vec<Version>,
}

/// Reads an entire database file without changing it. The error may be a [`Damage`].
pub async fn contents(file: &Path) -> Result<Contents, Cause> {
    copy::read(file, |connection| Ok(check(connection, "integrity_check(1)")?))?;
    let copied = copy::in_memory(file, Scope::Everything)?.database;
    // Opening a database creates its tables.
    if copied.list_tables(ListTablesRequest::default())?.table_names.is_empty() {
        return Err(Damage::Unrecognized("this program did not create it".to_owned()).into());
    }
    let database = Database::from_copy(copied).await?;
    let read = read_all(&database.store()).await;
    database.close().await;
    Ok(read?)
}

async fn read_all(store: &Store) -> Result<Contents, Damage> {
    let keys = store.all_api_keys().await.map_err(Damage::Keys)?;
    if !keys.damaged.is_empty() {
        let names = keys.damaged.into_iter().map(|key| key.name);
        return Err(Damage::SomeKeys(names.collect()));
    }
    let keys = keys.readable.len();
    let unreadable = |error: StoreError| Damage::Version(error.into());
    let Some(manifest) = store.manifest().await.map_err(unreadable)? else {
        return Ok(Contents { current: None, keys, unreadable: Vec::new() });
    };
    let items = match ingest::verify(store, Repair::No, None, |_| ()).await {
        Ok(found) if found.drift.contradicting + found.drift.unreadable > 0 => {
            return Err(Damage::Items(found.drift.contradicting + found.drift.unreadable));
        }
        Ok(found) if found.skipped.is_empty() => found.items,
        // The data may be for another release. Its bytes must be intact.
        Ok(_) | Err(IngestError::Current(DatasetError::NoneReadable { .. })) => {
            store.snapshot(&manifest.current).await.map_err(unreadable)?;
            0
        }
        Err(error) => return Err(Damage::Version(error)),
    };
    let mut unreadable = Vec::new();
    for retained in &manifest.retained {
        if store.snapshot(retained).await.is_err() {
            unreadable.push(retained.version.clone());
        }
    }
    Ok(Contents { current: Some((manifest.current.version, items)), keys, unreadable })
}
