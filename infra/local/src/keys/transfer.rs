//! Moves API keys between databases with a file, for backups and restores.
//!
//! The file is one JSON document, so a truncated one is refused. It holds hashes and terms; keys
//! cannot be recovered from it.
//!
//! An import never extends an existing key's access: the earlier expiry wins, and revocations stay.
//! That is also the newer state, because nothing else extends a key. So files can be imported
//! repeatedly and in any order, even while keys are being revoked.

use std::{fmt, fs, io::Write};

use jiff::Timestamp;
use numbering::time::this_second;
use serde::{Deserialize, Serialize};
use store::{KeyRecord, Store, StoredKeys};

use crate::{
    CliError,
    data::report::{self, printable},
    database::{Access, on_database},
    error::{Context, counted},
    keys::{
        args::{KeysExportArgs, KeysImportArgs},
        deletion_protection::protect_tables_of_stack,
        state, warn_of_damaged,
    },
    new_file::NewFile,
};

/// The file format. Its version changes with its fields: a release that silently ignored an unknown
/// term could let a key do more than before.
const FORMAT: &str = "tnr api keys, version 1";

#[derive(Serialize, Deserialize)]
struct KeyFile {
    format: String,
    exported_at: Timestamp,
    keys: Vec<KeyRecord>,
}

/// The changes of an import, or of its dry run.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Transfer {
    dry_run: bool,
    /// Keys new to the database.
    added: Vec<TransferredKey>,
    /// Keys that are revoked or expire earlier than before.
    shortened: Vec<TransferredKey>,
    /// The number of unchanged keys.
    left: usize,
}

/// A key in the report.
#[derive(Debug, PartialEq, Serialize)]
struct TransferredKey {
    prefix: String,
    /// Live, revoked or expired after the import.
    state: &'static str,
    expires_at: Option<Timestamp>,
}

/// Exports all keys of a database to a new file.
pub async fn export(args: KeysExportArgs) -> Result<(), CliError> {
    let read = async |store: &Store| match args.table {
        Some(table) => store.clone().with_api_keys_table(table).all_api_keys().await,
        None => store.all_api_keys().await,
    };
    let new = NewFile::private_file(&args.file, args.replacement.force)?;
    let StoredKeys { readable: keys, damaged } =
        on_database(&args.data, Access::Read, read).await??;
    warn_of_damaged(&damaged, &args.data.next());
    let count = counted(keys.len(), "key");
    let text = file_of(keys).context("cannot write the keys as JSON")?;
    new.create()?.write_all(text.as_bytes()).map_err(new.unwritable())?;
    new.finish()?;
    println!("Exported {count} to {}: hashes and terms, and no key itself.", args.file.display());
    Ok(())
}

fn file_of(keys: Vec<KeyRecord>) -> serde_json::Result<String> {
    let file = KeyFile { format: FORMAT.to_owned(), exported_at: this_second(), keys };
    serde_json::to_string_pretty(&file)
}

/// Parses the keys of a complete file.
fn keys_in(text: &str) -> Result<Vec<KeyRecord>, CliError> {
    let file: KeyFile = serde_json::from_str(text)
        .context("it is not a complete file that 'keys export' of this release wrote")?;
    if file.format == FORMAT {
        return Ok(file.keys);
    }
    let format = printable(&file.format);
    Err(CliError::failed(format!("its format is '{format}', and this release reads '{FORMAT}'")))
}

/// Imports the keys of a file and prints the changes. After a failure, import the file again to
/// finish.
pub async fn import(args: KeysImportArgs) -> Result<(), CliError> {
    let file = args.file.display();
    let text = fs::read_to_string(&args.file).context(format!("cannot read the file '{file}'"))?;
    let keys = keys_in(&text).context(format!("file '{file}' cannot be imported"))?;
    let import = async |store: &Store| {
        let transferred = transfer(store, &keys, args.dry_run).await?;
        if !args.dry_run {
            protect_tables_of_stack(store, &args.data).await;
        }
        Ok::<_, CliError>(transferred)
    };
    let access = if args.dry_run { Access::Rehearse } else { Access::Create };
    let transferred = on_database(&args.data, access, import).await??;
    report::print(args.json, &transferred, write)
}

/// Imports keys into the table of `store`, or reports the changes in a dry run.
async fn transfer(store: &Store, keys: &[KeyRecord], dry_run: bool) -> Result<Transfer, CliError> {
    let StoredKeys { readable, damaged } = store.all_api_keys().await?;
    let mut transfer = Transfer { dry_run, ..Transfer::default() };
    for key in keys {
        if !dry_run {
            if damaged.iter().any(|damaged| damaged.key_hash == key.key_hash) {
                store.delete_api_key(&key.key_hash).await?;
            }
            add_or_end(store, key).await?;
        }
        let Some(before) = readable.iter().find(|stored| stored.key_hash == key.key_hash) else {
            transfer.added.push(named(key));
            continue;
        };
        let after = ending_with(before, key);
        if after == *before {
            transfer.left += 1;
        } else {
            transfer.shortened.push(named(&after));
        }
    }
    Ok(transfer)
}

fn named(key: &KeyRecord) -> TransferredKey {
    let (prefix, state) = (printable(&key.prefix), state(key, this_second()));
    TransferredKey { prefix, state, expires_at: key.expires_at }
}

/// The stored key with the earlier ends of both.
fn ending_with(stored: &KeyRecord, key: &KeyRecord) -> KeyRecord {
    let earlier = |first: Option<Timestamp>, second| first.into_iter().chain(second).min();
    KeyRecord {
        expires_at: earlier(stored.expires_at, key.expires_at),
        revoked_at: earlier(stored.revoked_at, key.revoked_at),
        ..stored.clone()
    }
}

/// Adds the key, or gives the stored one its earlier end. A call changes nothing if the stored key
/// already ends earlier, so other commands may run meanwhile.
async fn add_or_end(store: &Store, key: &KeyRecord) -> Result<(), CliError> {
    if store.add_api_key(key).await? {
        return Ok(());
    }
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
    let Transfer { dry_run, added, shortened, left } = transfer;
    if *dry_run {
        writeln!(table, "A dry run: nothing is changed")?;
    }
    for (what, keys) in [("added", added), ("shortened", shortened)] {
        for key in keys {
            let end = key.expires_at.map_or("never".to_owned(), |end| end.to_string());
            writeln!(table, "  {what:<9}  {:<15}  {:<7}  expires {end}", key.prefix, key.state)?;
        }
    }
    let (added, shortened) = (added.len(), shortened.len());
    writeln!(table, "{added} added, {shortened} shortened, {left} left as they are")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;

    /// A key's revocation and expiry, in seconds since 1970; `None` for a key that does not exist.
    type Ends = Option<(Option<i64>, Option<i64>)>;

    fn record(number: usize, ends: Ends, per_minute: u32) -> Option<KeyRecord> {
        let time = |seconds| Timestamp::from_second(seconds).unwrap();
        ends.map(|(revoked_at, expires_at)| KeyRecord {
            key_hash: format!("{number:064x}"),
            prefix: format!("tnr_live_{number}"),
            name: "a client".to_owned(),
            note: Some("a note\nof two lines".to_owned()),
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: expires_at.map(time),
            revoked_at: revoked_at.map(time),
            per_minute: Some(per_minute),
            per_day: None,
            quota_id: Some("another".to_owned()),
        })
    }

    fn merged(stored: Ends, exported: Ends) -> Ends {
        let earlier = |a: Option<i64>, b| a.into_iter().chain(b).min();
        match (stored, exported) {
            (Some((a, b)), Some((c, d))) => Some((earlier(a, c), earlier(b, d))),
            (one, other) => one.or(other),
        }
    }

    /// Imports a key in each state over one in each state with another quota, twice.
    #[tokio::test]
    async fn imports_lose_no_key_and_never_extend_one() {
        let times = [None, Some(1), Some(2)];
        let ends = times.iter().flat_map(|&revoked| times.map(|expires| Some((revoked, expires))));
        let ends: Vec<Ends> = ends.chain([None]).collect();
        let pairs: Vec<_> = ends.iter().flat_map(|&a| ends.iter().map(move |&b| (a, b))).collect();
        let records = |key: fn(usize, (Ends, Ends)) -> Option<KeyRecord>| -> Vec<KeyRecord> {
            pairs.iter().enumerate().filter_map(|(number, pair)| key(number, *pair)).collect()
        };
        let stored = records(|number, (stored, _)| record(number, stored, 5));
        let exported = records(|number, (_, exported)| record(number, exported, 50));
        let expected = records(|number, (stored, exported)| {
            let per_minute = if stored.is_some() { 5 } else { 50 };
            record(number, merged(stored, exported), per_minute)
        });
        let database = Database::in_memory().await.unwrap();
        let store = database.store();
        for key in &stored {
            store.put_api_key(key).await.unwrap();
        }
        let file = keys_in(&file_of(exported).unwrap()).unwrap();
        let changed = expected.iter().filter(|key| !stored.contains(key)).count();
        for changes in [changed, 0] {
            let rehearsed = transfer(&store, &file, true).await.unwrap();
            let imported = transfer(&store, &file, false).await.unwrap();
            assert_eq!(imported.added.len() + imported.shortened.len(), changes);
            assert_eq!(rehearsed, Transfer { dry_run: true, ..imported });
            let mut keys = store.api_keys().await.unwrap();
            keys.sort_by(|a, b| a.key_hash.cmp(&b.key_hash));
            assert_eq!(keys, expected);
        }
    }

    #[test]
    fn truncated_files_and_other_formats_are_refused() {
        let whole = file_of(record(0, Some((None, Some(1))), 5).into_iter().collect()).unwrap();
        for end in 0..whole.len() {
            assert!(keys_in(&whole[..end]).is_err(), "{end}");
        }
        assert!(keys_in(&whole).is_ok());
        let later = whole.replacen("version 1", "version 2", 1);
        assert!(keys_in(&later).unwrap_err().to_string().contains("api keys, version 2', and"));
    }
}
