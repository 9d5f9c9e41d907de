//! Moves API keys between databases with a file, for backups and restores.
//!
//! The file has a header and one JSON line per key. It holds hashes and terms; keys cannot be
//! recovered from it.
//!
//! An import never extends an existing key's access: the earlier expiry wins, and revocations stay.
//! That is also the newer state, because nothing else extends a key. So files can be imported
//! repeatedly and in any order, even while keys are being revoked.

use std::{collections::HashMap, fmt, fs};

use jiff::Timestamp;
use numbering::time::this_second;
use serde::{Deserialize, Serialize};
use store::{KeyRecord, Store, StoredKeys};

use crate::{
    CliError,
    data::report::{self, printable},
    database::{Access, on_database, private_file},
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

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    exported_at: Timestamp,
    /// The number of lines that follow, to detect truncation.
    keys: usize,
}

/// A key's record as a line. Every field is named explicitly, so none is dropped by accident: a key
/// without its expiry would work again.
#[derive(Serialize, Deserialize)]
#[serde(remote = "KeyRecord", deny_unknown_fields)]
struct ExportedKey {
    key_hash: String,
    prefix: String,
    name: String,
    #[serde(deserialize_with = "Option::deserialize")]
    note: Option<String>,
    created_at: Timestamp,
    #[serde(deserialize_with = "Option::deserialize")]
    expires_at: Option<Timestamp>,
    #[serde(deserialize_with = "Option::deserialize")]
    revoked_at: Option<Timestamp>,
    #[serde(deserialize_with = "Option::deserialize")]
    per_minute: Option<u32>,
    #[serde(deserialize_with = "Option::deserialize")]
    per_day: Option<u32>,
    #[serde(deserialize_with = "Option::deserialize")]
    quota_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Line(#[serde(with = "ExportedKey")] KeyRecord);

/// The changes of an import, or of its dry run.
#[derive(Debug, Default, Serialize)]
pub struct Transfer {
    dry_run: bool,
    /// Keys new to the database.
    added: Vec<TransferredKey>,
    /// Keys that are revoked or expire earlier than before.
    shortened: Vec<TransferredKey>,
    /// The number of unchanged keys.
    left: usize,
    /// The number of keys whose name, note or quota differs in the file. The database's terms stay.
    with_other_terms: usize,
}

/// A key in the report.
#[derive(Debug, Serialize)]
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
    let new = NewFile::file(&args.file, args.replacement.force)?;
    let StoredKeys { readable: keys, damaged } =
        on_database(&args.data, Access::Read, read).await??;
    warn_of_damaged(&damaged, &args.data.next());
    let text = file_of(&keys).context("cannot write the keys as JSON")?;
    private_file::write_new(&new.path(), &text).map_err(new.unwritable())?;
    new.finish()?;
    let (keys, file) = (counted(keys.len(), "key"), args.file.display());
    println!("Exported {keys} to {file}: hashes and terms, and no key itself.");
    Ok(())
}

fn file_of(keys: &[KeyRecord]) -> serde_json::Result<String> {
    let (format, exported_at) = (FORMAT.to_owned(), this_second());
    let header = Header { format, exported_at, keys: keys.len() };
    let mut text = serde_json::to_string(&header)? + "\n";
    for key in keys {
        text += &(serde_json::to_string(&Line(key.clone()))? + "\n");
    }
    Ok(text)
}

/// Parses the keys of a complete file.
fn keys_in(text: &str) -> Result<Vec<KeyRecord>, CliError> {
    let mut lines = (1..).zip(text.lines());
    let header = lines.next().and_then(|(_, line)| serde_json::from_str::<Header>(line).ok());
    let Some(header) = header.filter(|header| header.format == FORMAT) else {
        return Err(CliError::failed(format!(
            "its first line does not say '{FORMAT}'; give a file that 'keys export' of this release \
             wrote"
        )));
    };
    let mut keys = Vec::new();
    for (line, text) in lines {
        let Line(key) =
            serde_json::from_str(text).context(format!("its line {line} holds no key"))?;
        keys.push(key);
    }
    if keys.len() != header.keys {
        return Err(CliError::failed(format!(
            "it holds {}, and its header says {}; the file is cut off or changed",
            counted(keys.len(), "key"),
            header.keys
        )));
    }
    Ok(keys)
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
    let stored: HashMap<&str, &KeyRecord> =
        readable.iter().map(|key| (key.key_hash.as_str(), key)).collect();
    let mut transfer = Transfer { dry_run, ..Transfer::default() };
    for key in keys {
        if !dry_run {
            if damaged.iter().any(|damaged| damaged.key_hash == key.key_hash) {
                store.delete_api_key(&key.key_hash).await?;
            }
            add_or_end(store, key).await?;
        }
        let Some(&before) = stored.get(key.key_hash.as_str()) else {
            transfer.added.push(named(key));
            continue;
        };
        let after = ending_with(before, key);
        if after == *before {
            transfer.left += 1;
        } else {
            transfer.shortened.push(named(&after));
        }
        let KeyRecord { created_at, expires_at, revoked_at, .. } = after;
        let in_file = KeyRecord { created_at, expires_at, revoked_at, ..key.clone() };
        transfer.with_other_terms += usize::from(in_file != after);
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
    let (added, shortened) = (added.len(), shortened.len());
    writeln!(table, "{added} added, {shortened} shortened, {left} left as they are")?;
    if *with_other_terms > 0 {
        writeln!(
            table,
            "{with_other_terms} have another name, note or quota in the file; \
             the database keeps its own"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::{
        prelude::*,
        test_runner::{Config, TestRunner},
    };
    use tokio::runtime::Runtime;

    use super::*;
    use crate::database::Database;

    /// A key's revocation and expiry, in seconds since 1970.
    type Ends = (Option<i64>, Option<i64>);

    fn record(number: usize, (revoked_at, expires_at): Ends) -> KeyRecord {
        let time = |seconds| Timestamp::from_second(seconds).unwrap();
        KeyRecord {
            key_hash: format!("{number:064x}"),
            prefix: format!("tnr_live_{number}"),
            name: "a client".to_owned(),
            note: Some("a note\nof two lines".to_owned()),
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: expires_at.map(time),
            revoked_at: revoked_at.map(time),
            per_minute: Some(5),
            per_day: None,
            quota_id: None,
        }
    }

    fn records(ends: &[Option<Ends>]) -> Vec<KeyRecord> {
        let known = ends.iter().enumerate();
        known.filter_map(|(number, ends)| Some(record(number, (*ends)?))).collect()
    }

    /// The merged keys, each with its earlier ends.
    fn merged(first: &[Option<Ends>], second: &[Option<Ends>]) -> Vec<Option<Ends>> {
        let earlier = |a: Option<i64>, b| a.into_iter().chain(b).min();
        let both = first.iter().zip(second).map(|pair| match pair {
            (Some((a, b)), Some((c, d))) => Some((earlier(*a, *c), earlier(*b, *d))),
            (one, other) => one.or(*other),
        });
        both.collect()
    }

    /// Exports one table, loses or changes it, and imports the file into another, twice.
    #[test]
    fn imports_lose_no_key_and_never_extend_one() {
        let end = || proptest::option::of(1..4_i64);
        let table = || prop::collection::vec(proptest::option::of((end(), end())), 5);
        let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
        let tried = TestRunner::new(config).run(&(table(), table()), |(stored, exported)| {
            Runtime::new().unwrap().block_on(async {
                let database = Database::in_memory().await.unwrap();
                let store = database.store();
                for key in records(&stored) {
                    store.put_api_key(&key).await.unwrap();
                }
                let file = keys_in(&file_of(&records(&exported)).unwrap()).unwrap();
                prop_assert_eq!(&file, &records(&exported));
                let expected = records(&merged(&stored, &exported));
                let changes = expected.iter().filter(|key| !records(&stored).contains(key)).count();
                for changes in [changes, 0] {
                    let dry = transfer(&store, &file, true).await.unwrap();
                    let wet = transfer(&store, &file, false).await.unwrap();
                    prop_assert_eq!(wet.added.len() + wet.shortened.len(), changes);
                    prop_assert_eq!((dry.added.len(), dry.left), (wet.added.len(), wet.left));
                    let mut keys = store.api_keys().await.unwrap();
                    keys.sort_by(|a, b| a.key_hash.cmp(&b.key_hash));
                    prop_assert_eq!(&keys, &expected);
                }
                Ok(())
            })
        });
        if let Err(error) = tried {
            panic!("{error}");
        }
    }

    #[tokio::test]
    async fn database_keeps_its_own_terms() {
        let database = Database::in_memory().await.unwrap();
        let stored = record(0, (None, None));
        database.store().put_api_key(&stored).await.unwrap();
        let imported = [KeyRecord { per_minute: Some(50), ..stored.clone() }];
        let transferred = transfer(&database.store(), &imported, false).await.unwrap();
        assert_eq!((transferred.left, transferred.with_other_terms), (1, 1));
        assert_eq!(database.store().api_keys().await.unwrap(), [stored]);
    }

    #[test]
    fn truncated_or_altered_files_are_refused() {
        let whole = file_of(&[record(0, (None, Some(1))), record(1, (Some(2), None))]).unwrap();
        for end in 0..whole.len() - 1 {
            assert!(keys_in(&whole[..end]).is_err(), "{end}");
        }
        let refusal = |text: &str| logging::with_causes(&keys_in(text).unwrap_err());
        let later = whole.replacen("version 1", "version 2", 1);
        for text in ["", "\n", "[]", "{}", "key_hash,prefix\n", &later] {
            assert!(refusal(text).contains("does not say 'tnr api keys, version 1'"), "{text}");
        }
        // An unknown term could be a limit that the key would lose.
        let unknown = whole.replacen("\"per_day\"", "\"per_year\":1,\"per_day\"", 1);
        assert!(refusal(&unknown).contains("line 2 holds no key"));
        // Otherwise a revoked key would work again, and a limited one would be unlimited.
        for term in ["revoked_at", "expires_at", "per_minute", "per_day", "note", "quota_id"] {
            let renamed = whole.replacen(&format!("\"{term}\""), "\"prefix\"", 1);
            assert!(refusal(&renamed).contains("line 2 holds no key"), "{term}");
        }
    }
}
