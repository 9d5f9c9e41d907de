//! The `keys` command.

use clap::{Args, Subcommand};
use indicatif::HumanCount;
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use numbering::time::this_second;
use rand::distr::{Alphanumeric, SampleString as _};
use shared::{
    auth::{ApiKey, KeyKind, MalformedKey, PREFIX_LENGTH, SECRET_LENGTH},
    quota::LimitType,
};
use store::{DamagedKey, KeyRecord, Store, StoreError, StoredKeys};

use crate::{
    CliError,
    database::{Access, args::DataArgs, on_database, tables::protect_stack_tables},
    terminal::{
        self, BAD, GOOD, NextCommands, escape::escape_controls, quote, show_message, show_note,
        styled, width,
    },
};

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a key and print it; it cannot be shown again
    Create {
        /// Client or purpose of the key
        #[arg(long)]
        name: String,
        /// Create a test key, for which test numbers have fixed outcomes
        #[arg(long)]
        test: bool,
        #[command(flatten)]
        terms: KeyTerms,
        #[command(flatten)]
        data: DataArgs,
    },
    /// List all keys
    List(DataArgs),
    /// Replace the key that starts with PREFIX; both keys work during the overlap and share one
    /// quota
    Rotate {
        #[command(flatten)]
        key: KeyArgs,
        /// Expiry of the old key: a date, or a number of days such as 7d
        #[arg(long, value_name = "WHEN", default_value = "7d", value_parser = parse_future_time)]
        overlap: Timestamp,
    },
    /// Revoke the key that starts with PREFIX; it stops working within a minute
    Revoke(KeyArgs),
    /// Delete the key that starts with PREFIX, including its name and note; revoke it first
    Delete(KeyArgs),
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// First characters of the key, as shown by 'tnr keys list'
    pub prefix: String,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Clone, Args)]
pub struct KeyTerms {
    /// Note to show in the list of keys
    #[arg(long)]
    pub note: Option<String>,
    /// Expiry of the key: a date such as 2027-01-31 (midnight UTC), or a number of days such as
    /// 90d [default: never]
    #[arg(long, value_name = "WHEN", value_parser = parse_future_time)]
    pub expires: Option<Timestamp>,
    /// Maximum requests per minute [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_minute: Option<u32>,
    /// Maximum requests per 24 hours [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_day: Option<u32>,
}

/// Parses a future date (midnight UTC), or a number of days.
fn parse_future_time(text: &str) -> Result<Timestamp, &'static str> {
    parse_time_after(this_second(), text)
}

fn parse_time_after(now: Timestamp, text: &str) -> Result<Timestamp, &'static str> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u16>().ok());
    let date = || Date::strptime("%Y-%m-%d", text).and_then(|date| date.to_zoned(TimeZone::UTC));
    let time = match days {
        Some(days) => now.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok(),
        None => date().ok().map(|midnight| midnight.timestamp()),
    };
    time.filter(|time| *time > now)
        .ok_or("must be a future date such as 2027-01-31, or a number of days such as 90d")
}

pub async fn run(command: KeysCommand) -> Result<(), CliError> {
    match command {
        KeysCommand::Create { name, test, terms, data } => {
            let kind = if test { KeyKind::Test } else { KeyKind::Live };
            let create = async |store: &Store| {
                create(store, &name, kind, &terms).await?;
                protect_stack_tables(store, &data).await;
                Ok(())
            };
            on_database(&data, Access::Create, create).await?
        }
        KeysCommand::List(data) => {
            on_database(&data, Access::Read, async |it| list(it, &data.next()).await).await?
        }
        KeysCommand::Rotate { overlap, key: KeyArgs { prefix, data } } => {
            on_database(&data, Access::Change, async |it| rotate(it, &prefix, overlap).await)
                .await?
        }
        KeysCommand::Revoke(KeyArgs { prefix, data }) => {
            on_database(&data, Access::Change, async |it| revoke(it, &prefix).await).await?
        }
        KeysCommand::Delete(KeyArgs { prefix, data }) => {
            on_database(&data, Access::Change, async |it| delete(it, &prefix).await).await?
        }
    }
}

async fn create(
    store: &Store,
    name: &str,
    kind: KeyKind,
    terms: &KeyTerms,
) -> Result<(), CliError> {
    let now = this_second();
    let key = random(kind)?;
    let record = KeyRecord {
        note: terms.note.clone(),
        expires_at: terms.expires,
        per_minute: terms.per_minute,
        per_day: terms.per_day,
        ..KeyRecord::new(key.hash(), key.prefix(), name, now)
    };
    store.put_api_key(&record).await?;
    print_key(&key);
    Ok(())
}

pub fn random(kind: KeyKind) -> Result<ApiKey, MalformedKey> {
    ApiKey::with_secret(kind, &Alphanumeric.sample_string(&mut rand::rng(), SECRET_LENGTH))
}

/// Stores a key's hash, so that the API accepts the key. Does not change an existing record.
pub async fn register(store: &Store, key: &ApiKey, name: &str) -> Result<(), CliError> {
    match store.api_key(&key.hash()).await {
        Ok(Some(stored)) if stored.is_live(this_second()) => Ok(()),
        Ok(Some(_)) => Err(unusable_key(key.prefix())),
        Ok(None) => {
            let record = KeyRecord::new(key.hash(), key.prefix(), name, this_second());
            Ok(store.put_api_key(&record).await?)
        }
        // The key may have been revoked.
        Err(StoreError::Item { .. }) => Err(CliError::UnusableKey(format!(
            "the record for API key '{}…' is damaged; use another key, or run 'tnr keys list' to see \
             how to delete this one",
            key.prefix()
        ))),
        Err(error) => Err(error.into()),
    }
}

fn unusable_key(prefix: &str) -> CliError {
    CliError::UnusableKey(format!("API key '{prefix}…' is revoked or expired; use another key"))
}

fn print_key(key: &ApiKey) {
    println!("{}", key.reveal());
    eprintln!("Save this key now. Only its hash is stored, so it cannot be shown again.");
}

async fn list(store: &Store, next: &NextCommands) -> Result<(), CliError> {
    let now = this_second();
    let StoredKeys { readable: keys, damaged } = store.all_api_keys().await?;
    warn_about_damaged(&damaged, next);
    if keys.is_empty() && damaged.is_empty() {
        let create = next.tnr("keys create --name NAME");
        return terminal::print(&format!("No keys yet; create one:\n  {create}\n"));
    }
    terminal::print(&keys.iter().map(|key| key_lines(key, now)).collect::<String>())
}

fn warn_about_damaged(keys: &[DamagedKey], next: &NextCommands) {
    for key in keys {
        let name = &key.name;
        show_note(&format!(
            "warning: key {name} is damaged, and its client gets 401; create a new key with '{}', and \
             delete this one with '{}'",
            next.tnr("keys create --name NAME"),
            next.tnr(&format!("keys delete {}", quote(name))),
        ));
    }
}

fn key_lines(key: &KeyRecord, now: Timestamp) -> String {
    const INDENT: usize = 17;
    let (prefix, name) = (escape_controls(&key.prefix), escape_controls(&key.name));
    let note =
        key.note.as_ref().map_or(String::new(), |note| format!(" ({})", escape_controls(note)));
    let (state, style) = match (key.is_live(now), key.revoked_at) {
        (true, _) => ("active", GOOD),
        (false, Some(_)) => ("revoked", BAD),
        (false, None) => ("expired", BAD),
    };
    let created = format!("created {}", key.created_at);
    let expires = key.expires_at.map_or("never expires".to_owned(), |end| format!("expires {end}"));
    let quotas = LimitType::ALL.into_iter().filter_map(|it| {
        Some(format!("{} per {}", HumanCount(it.limit_of(key)?.into()), it.window_name()))
    });
    let terms = [created, expires].into_iter().chain(quotas).collect::<Vec<_>>().join(", ");
    let first = format!("{prefix:<15}  {state:<7}  {name}{note}");
    let first = terminal::wrap(&first, width(), INDENT);
    let first = first.replacen(&format!(" {state} "), &format!(" {} ", styled(style, state)), 1);
    let second = terminal::wrap(&format!("{:INDENT$}{terms}", ""), width(), INDENT);
    format!("{first}\n{second}\n")
}

pub async fn revoke(store: &Store, prefix: &str) -> Result<(), CliError> {
    let key = find(store, prefix).await?;
    store.revoke_api_key(&key.key_hash, this_second()).await?;
    let (prefix, name) = (key.prefix, key.name);
    show_message(&format!("Revoked {prefix} ({name}); it stops working within a minute."));
    Ok(())
}

/// Deletes the key whose prefix starts with `prefix`, or the damaged key with this name. A key that is not damaged
/// must be revoked or expired first, because servers use the last record they read while the database is down.
async fn delete(store: &Store, prefix: &str) -> Result<(), CliError> {
    let StoredKeys { readable, damaged } = store.all_api_keys().await?;
    if let Some(key) = damaged.iter().find(|key| key.name == prefix) {
        store.delete_api_key(&key.key_hash).await?;
        show_message(&format!("Deleted {}, which was damaged.", key.name));
        return Ok(());
    }
    let key = find_only(readable, prefix)?;
    if key.is_live(this_second()) {
        return Err(CliError::failed(format!(
            "API key '{}…' still works; revoke it with 'tnr keys revoke' before you delete it",
            key.prefix
        )));
    }
    store.delete_api_key(&key.key_hash).await?;
    show_message(&format!("Deleted {}, including its name and note.", key.prefix));
    Ok(())
}

/// Replaces a key with a new one on the same terms. Both work until `latest_end` at most, and share one
/// quota.
async fn rotate(store: &Store, prefix: &str, latest_end: Timestamp) -> Result<(), CliError> {
    let now = this_second();
    let old = find(store, prefix).await?;
    if !old.is_live(now) {
        return Err(unusable_key(&old.prefix));
    }
    let end = old.expires_at.map_or(latest_end, |expiry| expiry.min(latest_end));
    let key = random(KeyKind::from_record(&old))?;
    let (key_hash, new_prefix) = (key.hash(), key.prefix().to_owned());
    let quota_id = Some(old.quota_id().to_owned());
    let new = KeyRecord { key_hash, prefix: new_prefix, created_at: now, quota_id, ..old.clone() };
    store.put_api_key(&new).await?;
    store.expire_api_key(&old.key_hash, end).await?;
    print_key(&key);
    show_note(&format!("{} ({}) works until {end}.", old.prefix, old.name));
    Ok(())
}

async fn find(store: &Store, prefix: &str) -> Result<KeyRecord, CliError> {
    find_only(store.all_api_keys().await?.readable, prefix)
}

fn find_only(keys: Vec<KeyRecord>, prefix: &str) -> Result<KeyRecord, CliError> {
    let matches = |key: &KeyRecord| match prefix.parse::<ApiKey>() {
        Ok(full) => key.key_hash == full.hash(),
        Err(_) => key.prefix.starts_with(prefix),
    };
    let mut matching: Vec<_> = keys.into_iter().filter(matches).collect();
    if matching.len() == 1 {
        return Ok(matching.remove(0));
    }
    // Never print a full key's secret part.
    let prefix: String = prefix.chars().take(PREFIX_LENGTH).collect();
    Err(CliError::failed(format!(
        "{} API keys start with '{prefix}'; pass a prefix that matches only one (see 'tnr keys list')",
        matching.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;

    #[test]
    fn expiry_is_a_future_date_or_number_of_days() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let end = |text: &str| parse_time_after(now, text).unwrap().to_string();
        assert_eq!(end("2027-01-31"), "2027-01-31T00:00:00Z");
        assert_eq!(end("90d"), "2027-02-19T12:00:00Z");
        for text in
            ["2026-11-21", "2020-01-01", "0d", "", "d", "-1d", "90", "31.01.2027", "2027-02-30"]
        {
            assert!(parse_time_after(now, text).is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn keys_are_listed_oldest_first_then_by_name() {
        let database = Database::in_memory().await.unwrap();
        let store = database.store();
        let keys = [("0", "d", 1), ("1", "c", 0), ("2", "b", 1), ("3", "a", 1)];
        for (hash, name, second) in keys {
            let created_at = Timestamp::from_second(second).unwrap();
            let key = KeyRecord::new(hash.to_owned(), "tnr_live_", name, created_at);
            store.put_api_key(&key).await.unwrap();
        }
        let names: Vec<_> =
            store.all_api_keys().await.unwrap().readable.into_iter().map(|key| key.name).collect();
        assert_eq!(names, ["c", "a", "b", "d"]);
    }
}
