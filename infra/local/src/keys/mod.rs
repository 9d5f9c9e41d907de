//! Creates, lists, rotates, revokes and deletes API keys. A key is shown only once, on creation.

pub mod args;
pub mod deletion_protection;
pub mod expiry;
pub mod transfer;

use jiff::Timestamp;
use numbering::time::this_second;
use rand::{RngExt, distr::Alphanumeric};
use shared::auth::{ApiKey, MalformedKey, PREFIX_CHARACTERS, SECRET_CHARACTERS};
use store::{DamagedKey, KeyRecord, Store, StoreError, StoredKeys};

use crate::{
    CliError,
    data::report::printable,
    database::{Access, on_database},
    keys::{
        args::{KeyTerms, KeysCommand},
        deletion_protection::protect_tables_of_stack,
        expiry::Expiry,
    },
    terminal::{
        self, BAD, GOOD,
        next_commands::{NextCommands, quoted},
        styled, width,
    },
};

/// Runs a command on the keys of a database.
pub async fn run(command: KeysCommand) -> Result<(), CliError> {
    match command {
        KeysCommand::Create { name, terms, data } => {
            let create = async |store: &Store| {
                create(store, &name, &terms).await?;
                protect_tables_of_stack(store, &data).await;
                Ok(())
            };
            on_database(&data, Access::Create, create).await?
        }
        KeysCommand::List { data } => {
            let list = async |store: &Store| list(store, &data.next()).await;
            on_database(&data, Access::Read, list).await?
        }
        KeysCommand::Rotate { prefix, overlap, data } => {
            let rotate = async |store: &Store| rotate(store, &prefix, overlap).await;
            on_database(&data, Access::Change, rotate).await?
        }
        KeysCommand::Revoke { prefix, data } => {
            let revoke = async |store: &Store| revoke(store, &prefix).await;
            on_database(&data, Access::Change, revoke).await?
        }
        KeysCommand::Delete { prefix, data } => {
            let delete = async |store: &Store| delete(store, &prefix).await;
            on_database(&data, Access::Change, delete).await?
        }
        KeysCommand::Export(args) => transfer::export(args).await,
        KeysCommand::Import(args) => transfer::import(args).await,
    }
}

/// Creates a key with these terms, stores its hash and prints it.
pub async fn create(store: &Store, name: &str, terms: &KeyTerms) -> Result<(), CliError> {
    let now = this_second();
    let key = random()?;
    let record = KeyRecord {
        note: terms.note.clone(),
        expires_at: terms.expires.map(|expiry| expiry.from(now)).transpose()?,
        per_minute: terms.per_minute,
        per_day: terms.per_day,
        ..record_without_terms(&key, name, now)
    };
    store.put_api_key(&record).await?;
    show(&key);
    Ok(())
}

/// A new random key.
pub fn random() -> Result<ApiKey, MalformedKey> {
    let characters = rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARACTERS);
    ApiKey::with_secret(&characters.map(char::from).collect::<String>())
}

/// Stores a key's hash, so the API accepts it. An existing record stays unchanged.
pub async fn register(store: &Store, key: &ApiKey, name: &str) -> Result<(), CliError> {
    match store.api_key(&key.hash()).await {
        Ok(Some(known)) if known.is_live(this_second()) => Ok(()),
        Ok(Some(_)) => Err(dead_key(key.prefix())),
        Ok(None) => Ok(store.put_api_key(&record_without_terms(key, name, this_second())).await?),
        // It may have been revoked.
        Err(StoreError::Item { .. }) => Err(CliError::UnusableKey(format!(
            "API key '{}…' is damaged in the database; 'tnr keys list' says how to delete it, or \
             give another one",
            key.prefix()
        ))),
        Err(error) => Err(error.into()),
    }
}

fn dead_key(prefix: &str) -> CliError {
    let text = format!("API key '{prefix}…' has been revoked or has expired; give another one");
    CliError::UnusableKey(text)
}

/// The record of a key without expiry or quotas.
fn record_without_terms(key: &ApiKey, name: &str, created_at: Timestamp) -> KeyRecord {
    KeyRecord {
        key_hash: key.hash(),
        prefix: key.prefix().to_owned(),
        name: name.to_owned(),
        note: None,
        created_at,
        expires_at: None,
        revoked_at: None,
        per_minute: None,
        per_day: None,
        quota_id: None,
    }
}

fn show(key: &ApiKey) {
    println!("{}", key.reveal());
    eprintln!("Keep it now: only its hash is stored, and it is not shown again.");
}

/// Prints every key by prefix, two lines each.
pub async fn list(store: &Store, next: &NextCommands) -> Result<(), CliError> {
    let now = this_second();
    let StoredKeys { readable: keys, damaged } = store.all_api_keys().await?;
    warn_of_damaged(&damaged, next);
    if keys.is_empty() && damaged.is_empty() {
        let create = next.tnr("keys create --name NAME");
        return terminal::print(&format!("No keys yet; create one:\n  {create}\n"));
    }
    terminal::print(&keys.iter().map(|key| lines(key, now)).collect::<String>())
}

/// Warns about unreadable keys.
pub(super) fn warn_of_damaged(keys: &[DamagedKey], next: &NextCommands) {
    for key in keys {
        let name = printable(&key.name);
        eprintln!(
            "warning: key {name} is damaged, and its client gets 401; '{}' makes another, and '{}' \
             deletes this one",
            next.tnr("keys create --name NAME"),
            next.tnr(&format!("keys delete {}", quoted(&name))),
        );
    }
}

fn lines(key: &KeyRecord, now: Timestamp) -> String {
    const INDENT: usize = 17;
    let (prefix, name) = (printable(&key.prefix), printable(&key.name));
    let note = key.note.as_ref().map_or(String::new(), |note| format!(" ({})", printable(note)));
    let state = state(key, now);
    let style = if state == LIVE { GOOD } else { BAD };
    let created = format!("created {}", key.created_at);
    let expires = key.expires_at.map_or("never expires".to_owned(), |end| format!("expires {end}"));
    let quota = |limit: Option<u32>, span| limit.map(|limit| format!("{limit} a {span}"));
    let terms =
        [Some(created), Some(expires), quota(key.per_minute, "minute"), quota(key.per_day, "day")];
    let terms = terms.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let first =
        terminal::wrapped(&format!("{prefix:<15}  {state:<7}  {name}{note}"), width(), INDENT);
    let first = first.replacen(&format!(" {state} "), &format!(" {} ", styled(style, state)), 1);
    let second = terminal::wrapped(&format!("{:INDENT$}{terms}", ""), width(), INDENT);
    format!("{first}\n{second}\n")
}

/// The state of a working key.
const LIVE: &str = "live";

pub(super) fn state(key: &KeyRecord, now: Timestamp) -> &'static str {
    match (key.is_live(now), key.revoked_at) {
        (true, _) => LIVE,
        (false, Some(_)) => "revoked",
        (false, None) => "expired",
    }
}

/// Revokes the only key whose prefix starts with `prefix`, or equals it.
pub async fn revoke(store: &Store, prefix: &str) -> Result<(), CliError> {
    let key = find(store, prefix).await?;
    store.revoke_api_key(&key.key_hash, this_second()).await?;
    println!("Revoked {} ({}); it stops working within a minute.", key.prefix, key.name);
    Ok(())
}

/// Deletes the only key whose prefix starts with or equals `prefix`, including its name and note,
/// or the damaged key of this name. The key must have been revoked or expired: servers rely on the
/// last record they read while the database is down.
pub async fn delete(store: &Store, prefix: &str) -> Result<(), CliError> {
    let StoredKeys { readable, damaged } = store.all_api_keys().await?;
    if let Some(key) = damaged.iter().find(|key| key.name == prefix) {
        store.delete_api_key(&key.key_hash).await?;
        println!("Deleted {}, which was damaged.", printable(&key.name));
        return Ok(());
    }
    let key = one_of(readable, prefix)?;
    if key.is_live(this_second()) {
        return Err(CliError::failed(format!(
            "API key '{}…' still works; revoke it with 'tnr keys revoke', and delete it once clients \
             no longer need it",
            key.prefix
        )));
    }
    store.delete_api_key(&key.key_hash).await?;
    println!("Deleted {}, with its name and note.", key.prefix);
    Ok(())
}

/// Creates a key with another key's terms; the other expires after `overlap`. Until then both work
/// and share one quota.
pub async fn rotate(store: &Store, prefix: &str, overlap: Expiry) -> Result<(), CliError> {
    let now = this_second();
    let old = find(store, prefix).await?;
    if !old.is_live(now) {
        return Err(dead_key(&old.prefix));
    }
    let latest_end = overlap.from(now)?;
    let end = old.expires_at.map_or(latest_end, |expiry| expiry.min(latest_end));
    let key = random()?;
    let (key_hash, new_prefix) = (key.hash(), key.prefix().to_owned());
    let quota_id = Some(old.quota_id().to_owned());
    let new = KeyRecord { key_hash, prefix: new_prefix, created_at: now, quota_id, ..old.clone() };
    store.put_api_key(&new).await?;
    store.expire_api_key(&old.key_hash, end).await?;
    show(&key);
    eprintln!("{} ({}) works until {end}.", old.prefix, old.name);
    Ok(())
}

async fn find(store: &Store, prefix: &str) -> Result<KeyRecord, CliError> {
    one_of(store.api_keys().await?, prefix)
}

fn one_of(keys: Vec<KeyRecord>, prefix: &str) -> Result<KeyRecord, CliError> {
    let names = |key: &KeyRecord| match prefix.parse::<ApiKey>() {
        Ok(whole) => key.key_hash == whole.hash(),
        Err(_) => key.prefix.starts_with(prefix),
    };
    let mut matching: Vec<_> = keys.into_iter().filter(names).collect();
    if matching.len() == 1 {
        return Ok(matching.remove(0));
    }
    // For a full key, repeat only the part that the list shows.
    let shown: String = prefix.chars().take(PREFIX_CHARACTERS).collect();
    Err(CliError::failed(format!(
        "{} API keys begin with '{shown}'; give a prefix that only one key has ('tnr keys list' shows \
         them)",
        matching.len()
    )))
}
