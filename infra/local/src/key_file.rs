//! The file that keys are exported to: a line of JSON for each key, after a header. It holds hashes
//! and terms, and no key can be recovered from it.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared::auth::{PREFIX_CHARACTERS, START_OF_KEY};
use store::KeyRecord;

/// The version of the format, which changes with its fields: a term that a release does not know must
/// not be left out silently, since the key could then do more than before.
const FORMAT_VERSION: u64 = 1;
/// The name of the format.
const FORMAT: &str = "tnr api keys";
/// The longest name or note in bytes, with which a key's item stays below DynamoDB's limit of 400 KB.
const LONGEST_TEXT: usize = 100_000;
/// The digits of a SHA-256 in hex.
const HASH_DIGITS: usize = 64;

/// Why a file is no export of keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("its first line is not the header of such a file; give one that 'keys export' wrote")]
    NoHeader,
    #[error(
        "its format has version {0}, and this release reads version {FORMAT_VERSION}; \
         use the release that wrote it"
    )]
    Version(Value),
    #[error("its line {line} holds no key")]
    Key { line: usize, source: serde_json::Error },
    #[error("its line {line}: {field} must be {rule}")]
    Field { line: usize, field: &'static str, rule: &'static str },
    #[error("its line {line} holds the same key as a line before")]
    Repeated { line: usize },
    #[error(
        "it holds {found} keys, and its header says {expected}; the file is cut off or changed"
    )]
    Count { expected: usize, found: usize },
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: Value,
    exported_at: Timestamp,
    keys: usize,
}

/// A key's record as a line has it. Each field of the record has to be named here and in each line, so
/// that none is left out by accident: a key without its end would live again.
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

/// The text of the file that holds these keys.
pub fn text(keys: &[KeyRecord], now: Timestamp) -> serde_json::Result<String> {
    let header = Header {
        format: FORMAT.to_owned(),
        version: FORMAT_VERSION.into(),
        exported_at: now,
        keys: keys.len(),
    };
    let mut lines = vec![serde_json::to_string(&header)?];
    for key in keys {
        lines.push(serde_json::to_string(&Line(key.clone()))?);
    }
    Ok(lines.join("\n") + "\n")
}

/// The keys in the text of such a file.
pub fn keys(text: &str) -> Result<Vec<KeyRecord>, KeyFileError> {
    let mut lines = (1..).zip(text.lines());
    let expected = lines.next().ok_or(KeyFileError::NoHeader).and_then(|(_, line)| header(line))?;
    let (mut keys, mut hashes) = (Vec::new(), HashSet::new());
    for (line, text) in lines {
        let key = key(line, text)?;
        if !hashes.insert(key.key_hash.clone()) {
            return Err(KeyFileError::Repeated { line });
        }
        keys.push(key);
    }
    if keys.len() != expected {
        return Err(KeyFileError::Count { expected, found: keys.len() });
    }
    Ok(keys)
}

/// How many keys the header says that the file holds.
fn header(line: &str) -> Result<usize, KeyFileError> {
    let header: Value = serde_json::from_str(line).map_err(|_| KeyFileError::NoHeader)?;
    if header["format"] != FORMAT {
        return Err(KeyFileError::NoHeader);
    }
    if header["version"] != FORMAT_VERSION {
        return Err(KeyFileError::Version(header["version"].clone()));
    }
    let header: Header = serde_json::from_value(header).map_err(|_| KeyFileError::NoHeader)?;
    Ok(header.keys)
}

fn key(line: usize, text: &str) -> Result<KeyRecord, KeyFileError> {
    let Line(key) =
        serde_json::from_str(text).map_err(|source| KeyFileError::Key { line, source })?;
    if !is_hash(&key.key_hash) {
        let rule = "64 digits of 0 to 9 and a to f, the SHA-256 of a key";
        return Err(KeyFileError::Field { line, field: "key_hash", rule });
    }
    if !key.quota_id.as_deref().is_none_or(is_hash) {
        let rule = "null or the SHA-256 of a key";
        return Err(KeyFileError::Field { line, field: "quota_id", rule });
    }
    if !is_prefix(&key.prefix) {
        let rule = "the first characters of a key";
        return Err(KeyFileError::Field { line, field: "prefix", rule });
    }
    for (field, text) in [("name", Some(&key.name)), ("note", key.note.as_ref())] {
        if text.is_some_and(|text| text.len() > LONGEST_TEXT) {
            return Err(KeyFileError::Field { line, field, rule: "at most 100,000 bytes long" });
        }
    }
    for (field, quota) in [("per_minute", key.per_minute), ("per_day", key.per_day)] {
        if quota == Some(0) {
            return Err(KeyFileError::Field { line, field, rule: "null or at least 1" });
        }
    }
    Ok(key)
}

/// Whether a text can be the beginning of a key by which an operator names it.
fn is_prefix(text: &str) -> bool {
    let secret = text.strip_prefix(START_OF_KEY).unwrap_or_default();
    let is_secret = secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !secret.is_empty() && is_secret && text.len() <= PREFIX_CHARACTERS
}

fn is_hash(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == HASH_DIGITS && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(hash: char) -> KeyRecord {
        KeyRecord {
            key_hash: hash.to_string().repeat(HASH_DIGITS),
            prefix: format!("tnr_live_{hash}"),
            name: "a client".to_owned(),
            note: Some("a note\nof two lines".to_owned()),
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: Some(Timestamp::MAX),
            revoked_at: None,
            per_minute: Some(5),
            per_day: None,
            quota_id: Some("0".repeat(HASH_DIGITS)),
        }
    }

    fn example() -> String {
        text(&[record('a'), record('b')], Timestamp::UNIX_EPOCH).unwrap()
    }

    fn refusal(text: &str) -> String {
        keys(text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_reads_back_with_every_term() {
        assert_eq!(keys(&example()).unwrap(), [record('a'), record('b')]);
        assert_eq!(keys(&text(&[], Timestamp::UNIX_EPOCH).unwrap()).unwrap(), []);
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_refused() {
        let whole = example();
        for end in 0..whole.len() - 1 {
            assert!(keys(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_file_of_another_kind_or_version_is_refused() {
        for text in ["", "\n", "[]", "{}", "key_hash,prefix\n"] {
            assert!(refusal(text).contains("not the header"), "{text}");
        }
        let later = example().replacen("\"version\":1", "\"version\":2", 1);
        assert!(refusal(&later).contains("its format has version 2"));
    }

    /// An unknown term could be a limit that the key would lose.
    #[test]
    fn a_term_that_is_not_known_is_refused() {
        let unknown = example().replacen("\"per_day\"", "\"per_year\":1,\"per_day\"", 1);
        assert!(refusal(&unknown).contains("line 2 holds no key"));
    }

    /// A revoked key would be live, and one with a quota would have none.
    #[test]
    fn a_line_that_lacks_a_term_is_refused() {
        for term in ["revoked_at", "expires_at", "per_minute", "per_day", "note", "quota_id"] {
            let mut lines: Vec<String> = example().lines().map(str::to_owned).collect();
            let mut key: Value = serde_json::from_str(&lines[1]).unwrap();
            key.as_object_mut().unwrap().remove(term).unwrap();
            lines[1] = key.to_string();
            assert!(refusal(&lines.join("\n")).contains("line 2 holds no key"), "{term}");
        }
    }

    #[test]
    fn terms_that_no_key_can_have_are_refused() {
        let without_requests = example().replacen("\"per_minute\":5", "\"per_minute\":0", 1);
        assert!(refusal(&without_requests).starts_with("its line 2: per_minute must be"));
        for prefix in ["", "t", "tnr_live_", "tnr_live_toolongtobeone"] {
            let other = example().replacen("tnr_live_a", prefix, 1);
            assert!(refusal(&other).starts_with("its line 2: prefix must be"), "{prefix}");
        }
        let long = example().replacen("a client", &"a".repeat(LONGEST_TEXT + 1), 1);
        assert!(refusal(&long).starts_with("its line 2: name must be"));
    }

    #[test]
    fn wrong_and_repeated_keys_are_refused_by_their_line() {
        let [a, b] = ['a', 'b'].map(|hash| hash.to_string().repeat(HASH_DIGITS));
        assert!(refusal(&example().replace(&b, &a)).contains("line 3 holds the same key"));
        let short = example().replace(&b, "b");
        assert!(refusal(&short).starts_with("its line 3: key_hash must be 64 digits"));
        let upper_case = example().replace(&b, &b.to_uppercase());
        assert!(refusal(&upper_case).starts_with("its line 3: key_hash must be 64 digits"));
        let escape = example().replace("tnr_live_b", "\\u001b[2J");
        assert!(refusal(&escape).starts_with("its line 3: prefix must be"));
        let quota = example().replacen(&"0".repeat(HASH_DIGITS), "0", 1);
        assert!(refusal(&quota).starts_with("its line 2: quota_id must be"));
    }
}
