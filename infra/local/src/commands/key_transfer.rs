//! Carries API keys from one database to another by a file, for backups and restores.
//!
//! An import only ever takes access away from a key that is there already: the earlier expiry counts,
//! and a revocation stands. That is also the newer state, since nothing else in the service makes a
//! key live longer. So files may be imported in any order and any number of times, also while keys are
//! revoked.

use std::{collections::HashMap, fmt, fs};

use jiff::Timestamp;
use numbering::time::this_second;
use serde::Serialize;
use store::{KeyRecord, Store, StoredKeys};

use crate::{
    LocalError,
    args::{KeysExportArgs, KeysImportArgs},
    commands::keys::{state, warn_of_damaged},
    database::{Access, on_database},
    deletion_protection::protect_tables_of_stack,
    key_file,
    new_file::NewFile,
    private_file, report,
};

/// What an import did, or in a dry run would do.
#[derive(Debug, Default, Serialize)]
pub struct Transfer {
    pub dry_run: bool,
    /// Keys that the database did not have.
    pub added: Vec<TransferredKey>,
    /// Keys that are revoked or end earlier than before.
    pub shortened: Vec<TransferredKey>,
    /// How many keys stay as they are.
    pub left: usize,
    /// How many keys have another name, note or quota in the file. The database keeps its own.
    pub with_other_terms: usize,
}

/// A key as the report names it.
#[derive(Debug, Serialize)]
pub struct TransferredKey {
    pub prefix: String,
    /// Whether it is live, revoked or expired afterwards.
    pub state: &'static str,
    pub expires_at: Option<Timestamp>,
}

/// What happens to one key.
enum Effect {
    Added,
    Shortened(KeyRecord),
    Left,
}

/// Writes every key of a database to a new file.
pub async fn export(args: KeysExportArgs) -> Result<(), LocalError> {
    let read = async |store: &Store| match args.table {
        Some(table) => store.clone().with_api_keys_table(table).all_api_keys().await,
        None => store.all_api_keys().await,
    };
    let new = NewFile::file(&args.file, args.replacement.force)?;
    let StoredKeys { readable: keys, damaged } =
        on_database(&args.data, Access::Read, read).await??;
    warn_of_damaged(&damaged, &args.data.next());
    let text = key_file::text(&keys, this_second())
        .map_err(LocalError::io("cannot write the keys as JSON"))?;
    private_file::write_new(&new.path(), &text).map_err(new.unwritable())?;
    new.finish()?;
    let file = args.file.display();
    let count = keys.len();
    let plural = if count == 1 { "" } else { "s" };
    println!("Exported {count} key{plural} to {file}: hashes and terms, and no key itself.");
    Ok(())
}

/// Brings the keys of a file into a database, and prints what that changed.
///
/// # Errors
/// Returns an error if the file is not a whole export of keys, or the database does not answer. Some
/// keys may be imported by then; importing the file again completes it.
pub async fn import(args: KeysImportArgs) -> Result<(), LocalError> {
    let file = args.file.display().to_string();
    let text = fs::read_to_string(&args.file)
        .map_err(LocalError::io(format!("cannot read the file '{file}'")))?;
    let keys = key_file::keys(&text).map_err(|source| LocalError::KeyFile { file, source })?;
    let import = async |store: &Store| {
        let transferred = transfer(store, &keys, args.dry_run).await?;
        if !args.dry_run {
            protect_tables_of_stack(store, &args.data).await;
        }
        Ok::<_, LocalError>(transferred)
    };
    let access = if args.dry_run { Access::Rehearse } else { Access::Create };
    let transferred = on_database(&args.data, access, import).await??;
    report::print(args.json, &transferred, write)
}

/// Brings these keys into the table of `store`, or in a dry run only says what would change.
pub async fn transfer(
    store: &Store,
    keys: &[KeyRecord],
    dry_run: bool,
) -> Result<Transfer, LocalError> {
    let StoredKeys { readable, damaged } = store.all_api_keys().await?;
    let stored = readable.into_iter().map(|key| (key.key_hash.clone(), key));
    let stored: HashMap<String, KeyRecord> = stored.collect();
    let now = this_second();
    let named = |key: &KeyRecord| TransferredKey {
        prefix: key.prefix.clone(),
        state: state(key, now),
        expires_at: key.expires_at,
    };
    let mut transfer = Transfer { dry_run, ..Transfer::default() };
    for key in keys {
        let before = stored.get(&key.key_hash);
        let effect = effect_of(before, key);
        if !dry_run {
            if damaged.iter().any(|damaged| damaged.key_hash == key.key_hash) {
                store.delete_api_key(&key.key_hash).await?;
            }
            carry_out(store, &effect, key).await?;
        }
        match effect {
            Effect::Added => transfer.added.push(named(key)),
            Effect::Shortened(shortened) => transfer.shortened.push(named(&shortened)),
            Effect::Left => transfer.left += 1,
        }
        let has_other_terms = before.is_some_and(|before| with_times_of(key, before) != *key);
        transfer.with_other_terms += usize::from(has_other_terms);
    }
    Ok(transfer)
}

/// What the key of the file changes, if the database has `stored` of it.
fn effect_of(stored: Option<&KeyRecord>, key: &KeyRecord) -> Effect {
    let Some(stored) = stored else { return Effect::Added };
    let shortened = KeyRecord {
        expires_at: earlier(stored.expires_at, key.expires_at),
        revoked_at: earlier(stored.revoked_at, key.revoked_at),
        ..stored.clone()
    };
    if shortened == *stored { Effect::Left } else { Effect::Shortened(shortened) }
}

/// The earlier of two ends, either of which may be never.
fn earlier(first: Option<Timestamp>, second: Option<Timestamp>) -> Option<Timestamp> {
    first.into_iter().chain(second).min()
}

/// The terms of `key` with the creation and the end of `other`.
fn with_times_of(other: &KeyRecord, key: &KeyRecord) -> KeyRecord {
    let &KeyRecord { created_at, expires_at, revoked_at, .. } = other;
    KeyRecord { created_at, expires_at, revoked_at, ..key.clone() }
}

async fn carry_out(store: &Store, effect: &Effect, key: &KeyRecord) -> Result<(), LocalError> {
    match effect {
        Effect::Left => Ok(()),
        Effect::Added if store.add_api_key(key).await? => Ok(()),
        // Another command has added the key meanwhile, so it must still end as early as in the file.
        Effect::Added | Effect::Shortened(_) => end_as_early(store, key).await,
    }
}

/// Revokes the stored key and makes it expire as early as `key`. Each of the two calls changes nothing
/// if the stored key ends earlier by now.
async fn end_as_early(store: &Store, key: &KeyRecord) -> Result<(), LocalError> {
    if let Some(revoked_at) = key.revoked_at {
        store.revoke_api_key(&key.key_hash, revoked_at).await?;
    }
    if let Some(end) = key.expires_at {
        store.expire_api_key(&key.key_hash, end).await?;
    }
    Ok(())
}

fn write(table: &mut String, transfer: &Transfer) -> fmt::Result {
    use fmt::Write;
    let Transfer { dry_run, added, shortened, left, with_other_terms } = transfer;
    if *dry_run {
        writeln!(table, "A dry run: nothing is changed")?;
    }
    for (what, keys) in [("added", added), ("shortened", shortened)] {
        for key in keys {
            let end = key.expires_at.map_or("never".to_owned(), |end| end.to_string());
            writeln!(table, "  {what:<9}  {:<15}  {:<7}  expires {end}", key.prefix, key.state)?;
        }
    }
    writeln!(
        table,
        "{} added, {} shortened, {left} left as they are",
        added.len(),
        shortened.len()
    )?;
    if *with_other_terms > 0 {
        writeln!(
            table,
            "{with_other_terms} have another name, note or quota in the file; \
             the database keeps its own"
        )?;
    }
    Ok(())
}
