//! Exports API keys to a file and imports them, for backups and restores.
//!
//! The file is one JSON document, so a truncated one is rejected. It contains hashes and terms, from
//! which keys cannot be recovered.
//!
//! An import never extends a key: the earlier expiry wins, and revocations stay. That is also the
//! newer state, because nothing else extends a key. So files can be imported repeatedly and in any
//! order, even while keys are being revoked.

use std::{
    fmt::{self, Write as _},
    fs,
    io::Write as _,
};

use jiff::Timestamp;
use numbering::time::this_second;
use serde::{Deserialize, Serialize};
use store::{KeyRecord, Store, StoredKeys};

use crate::{
    CliError,
    data::report::print,
    database::{Access, on_database},
    error::{Context, pluralize},
    keys::{
        args::{KeysExportArgs, KeysImportArgs},
        deletion_protection::protect_stack_tables,
        warn_about_damaged,
    },
    new_file::NewFile,
    terminal::{escape::escape_controls, show_message},
};

/// The file format. Its version must change with its fields: a release that ignored an unknown
/// restriction would let a key do more than before.
const FORMAT: &str = "tnr api keys, version 1";

#[derive(Serialize, Deserialize)]
struct KeyFile {
    format: String,
    exported_at: Timestamp,
    keys: Vec<KeyRecord>,
}

/// The changes made by an import, or planned by a dry run.
#[derive(Debug, Default, PartialEq, Serialize)]
struct ImportReport {
    dry_run: bool,
    added: Vec<String>,
    /// The prefixes of keys that are revoked or expire earlier than before.
    shortened: Vec<String>,
    unchanged: usize,
}

pub async fn export(args: KeysExportArgs) -> Result<(), CliError> {
    let read = async |store: &Store| match args.table {
        Some(table) => store.clone().with_api_keys_table(table).all_api_keys().await,
        None => store.all_api_keys().await,
    };
    let new = NewFile::create_private(&args.file, args.replacement.force)?;
    let StoredKeys { readable: keys, damaged } =
        on_database(&args.data, Access::Read, read).await??;
    warn_about_damaged(&damaged, &args.data.next());
    let count = pluralize(keys.len(), "key");
    let text = to_json(keys).context("cannot write the keys as JSON")?;
    new.open()?.write_all(text.as_bytes()).map_err(new.unwritable())?;
    new.finish()?;
    show_message(&format!(
        "Exported {count} to {}. The file contains hashes and terms, not the keys themselves.",
        args.file.display()
    ));
    Ok(())
}

fn to_json(keys: Vec<KeyRecord>) -> serde_json::Result<String> {
    let file = KeyFile { format: FORMAT.to_owned(), exported_at: this_second(), keys };
    serde_json::to_string_pretty(&file)
}

fn parse_keys(text: &str) -> Result<Vec<KeyRecord>, CliError> {
    let KeyFile { format, keys, .. } = serde_json::from_str(text)
        .context("it is not a complete file from this release's 'keys export'")?;
    if format == FORMAT {
        return Ok(keys);
    }
    Err(CliError::failed(format!("its format is '{format}', but this release reads '{FORMAT}'")))
}

/// Imports the keys in a file and prints the changes. After a failure, import the file again.
pub async fn import(args: KeysImportArgs) -> Result<(), CliError> {
    let file = args.file.display();
    let text = fs::read_to_string(&args.file).context(format!("cannot read the file '{file}'"))?;
    let keys = parse_keys(&text).context(format!("file '{file}' cannot be imported"))?;
    let import = async |store: &Store| {
        let report = import_keys(store, &keys, args.dry_run).await?;
        if !args.dry_run {
            protect_stack_tables(store, &args.data).await;
        }
        Ok::<_, CliError>(report)
    };
    let access = if args.dry_run { Access::DryRun } else { Access::Create };
    print(args.json, &on_database(&args.data, access, import).await??, write)
}

async fn import_keys(
    store: &Store,
    keys: &[KeyRecord],
    dry_run: bool,
) -> Result<ImportReport, CliError> {
    let StoredKeys { readable, damaged } = store.all_api_keys().await?;
    let mut report = ImportReport { dry_run, ..ImportReport::default() };
    for key in keys {
        if !dry_run {
            if damaged.iter().any(|damaged| damaged.key_hash == key.key_hash) {
                store.delete_api_key(&key.key_hash).await?;
            }
            add_or_shorten(store, key).await?;
        }
        match readable.iter().find(|stored| stored.key_hash == key.key_hash) {
            None => report.added.push(key.prefix.clone()),
            Some(stored) if shortens(key, stored) => report.shortened.push(key.prefix.clone()),
            Some(_) => report.unchanged += 1,
        }
    }
    Ok(report)
}

fn shortens(key: &KeyRecord, stored: &KeyRecord) -> bool {
    let is_earlier = |end: Option<Timestamp>, stored: Option<Timestamp>| {
        end.is_some_and(|end| stored.is_none_or(|stored| end < stored))
    };
    is_earlier(key.expires_at, stored.expires_at) || is_earlier(key.revoked_at, stored.revoked_at)
}

/// Adds the key, or shortens the stored one. The store keeps earlier ends, so other commands may run
/// at the same time.
async fn add_or_shorten(store: &Store, key: &KeyRecord) -> Result<(), CliError> {
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

fn write(table: &mut String, report: &ImportReport) -> fmt::Result {
    let ImportReport { dry_run, added, shortened, unchanged } = report;
    if *dry_run {
        writeln!(table, "Dry run: nothing was changed")?;
    }
    for (what, keys) in [("added", added), ("shortened", shortened)] {
        for prefix in keys {
            writeln!(table, "  {what:<9}  {}", escape_controls(prefix))?;
        }
    }
    let (added, shortened) = (added.len(), shortened.len());
    writeln!(table, "{added} added, {shortened} shortened, {unchanged} unchanged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{database::Database, keys::new_record};

    /// A key's revocation and expiry, in seconds since 1970; `None` if the key does not exist.
    type Ends = Option<(Option<i64>, Option<i64>)>;

    fn record(id: usize, ends: Ends, per_minute: u32) -> Option<KeyRecord> {
        let time = |seconds| Timestamp::from_second(seconds).unwrap();
        let (hash, prefix) = (format!("{id:064x}"), format!("tnr_live_{id}"));
        ends.map(|(revoked_at, expires_at)| KeyRecord {
            note: Some("two\nlines".to_owned()),
            expires_at: expires_at.map(time),
            revoked_at: revoked_at.map(time),
            per_minute: Some(per_minute),
            quota_id: Some("another".to_owned()),
            ..new_record(hash, &prefix, "a client", Timestamp::UNIX_EPOCH)
        })
    }

    fn merge(stored: Ends, exported: Ends) -> Ends {
        let earlier = |a: Option<i64>, b| a.into_iter().chain(b).min();
        match (stored, exported) {
            (Some((a, b)), Some((c, d))) => Some((earlier(a, c), earlier(b, d))),
            (one, other) => one.or(other),
        }
    }

    /// Imports a key in each state over one in each state with a different quota, twice.
    #[tokio::test]
    async fn imports_add_every_key_and_never_extend_one() {
        let times = [None, Some(1), Some(2)];
        let ends = times.iter().flat_map(|&revoked| times.map(|expires| Some((revoked, expires))));
        let ends: Vec<Ends> = ends.chain([None]).collect();
        let store = Database::in_memory().await.unwrap().store();
        let (mut exported, mut expected, mut changed) = (Vec::new(), Vec::new(), 0);
        let pairs = ends.iter().flat_map(|&before| ends.iter().map(move |&key| (before, key)));
        for (id, (before, key)) in pairs.enumerate() {
            if let Some(stored) = record(id, before, 5) {
                store.put_api_key(&stored).await.unwrap();
            }
            exported.extend(record(id, key, 50));
            let per_minute = if before.is_some() { 5 } else { 50 };
            expected.extend(record(id, merge(before, key), per_minute));
            changed += usize::from(merge(before, key) != before);
        }
        let file = parse_keys(&to_json(exported).unwrap()).unwrap();
        for changes in [changed, 0] {
            let dry_run = import_keys(&store, &file, true).await.unwrap();
            let imported = import_keys(&store, &file, false).await.unwrap();
            assert_eq!(imported.added.len() + imported.shortened.len(), changes);
            assert_eq!(dry_run, ImportReport { dry_run: true, ..imported });
            let mut keys = store.api_keys().await.unwrap();
            keys.sort_by(|a, b| a.key_hash.cmp(&b.key_hash));
            assert_eq!(keys, expected);
        }
    }

    #[test]
    fn truncated_files_and_other_formats_are_rejected() {
        let json = to_json(record(0, Some((None, Some(1))), 5).into_iter().collect()).unwrap();
        assert!(parse_keys(&json).is_ok() && parse_keys(&json[..json.len() - 1]).is_err());
        let later = json.replacen("version 1", "version 2", 1);
        assert!(parse_keys(&later).unwrap_err().to_string().contains("api keys, version 2', but"));
    }
}
