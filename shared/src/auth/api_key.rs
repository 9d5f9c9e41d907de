//! API keys: `tnr_live_` or `tnr_test_`, 32 random base62 characters, and a 6-character checksum. The checksum rejects
//! mistyped keys without a read, and lets secret scanners recognize leaked keys.

use std::{convert::Infallible, fmt, str::FromStr};

use axum::{extract::FromRequestParts, http::request::Parts};
use sha2::{Digest, Sha256};
use store::KeyRecord;

/// The number of random characters in a key (190 bits).
pub const SECRET_LENGTH: usize = 32;
const CHECKSUM_LENGTH: usize = 6;
/// The number of leading characters that identify a key to operators.
pub const PREFIX_LENGTH: usize = 15;

/// A well-formed key. Its `Debug` output contains only the prefix, so it cannot be logged by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an API key; a key is 'tnr_live_' or 'tnr_test_' followed by 38 letters or digits, the last 6 of which are a checksum"
)]
pub struct MalformedKey;

impl ApiKey {
    pub fn with_secret(kind: KeyKind, secret: &str) -> Result<Self, MalformedKey> {
        if secret.len() != SECRET_LENGTH || !secret.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(MalformedKey);
        }
        Ok(Self(format!("{}{secret}{}", kind.prefix(), checksum(secret))))
    }

    /// The SHA-256 hash of the key in hex. The service stores this and the prefix, never the key.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(&self.0);
        let (halves, _) = digest.as_chunks();
        // Two integers format faster than 32 bytes, and every request computes a hash.
        halves.iter().map(|&half| format!("{:032x}", u128::from_be_bytes(half))).collect()
    }

    pub fn kind(&self) -> KeyKind {
        KeyKind::from_key(&self.0).unwrap_or_default()
    }

    pub fn prefix(&self) -> &str {
        &self.0[..PREFIX_LENGTH]
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// The CRC-32 of the secret part in base62. Any value fits in six characters.
fn checksum(secret: &str) -> String {
    let digits = base62::encode(crc32fast::hash(secret.as_bytes()));
    format!("{digits:0>CHECKSUM_LENGTH$}")
}

impl FromStr for ApiKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let kind = KeyKind::from_key(text).ok_or(MalformedKey)?;
        let secret = text
            .strip_prefix(kind.prefix())
            .filter(|rest| rest.is_ascii() && rest.len() == SECRET_LENGTH + CHECKSUM_LENGTH)
            .ok_or(MalformedKey)?;
        let key = Self::with_secret(kind, &secret[..SECRET_LENGTH])?;
        if key.0 == text { Ok(key) } else { Err(MalformedKey) }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}…)", self.prefix())
    }
}

/// The kind of a key, which its first characters show. As an extractor, the kind of key that the request sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyKind {
    #[default]
    Live,
    /// Test numbers have a fixed outcome (docs/TEST-NUMBERS.md). Everything else is as with a live key.
    Test,
}

impl KeyKind {
    /// The kind of this key; `None` if it has no known prefix.
    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Live, Self::Test].into_iter().find(|kind| key.starts_with(kind.prefix()))
    }

    pub fn from_record(record: &KeyRecord) -> Self {
        Self::from_key(&record.prefix).unwrap_or_default()
    }

    /// The prefix of keys of this kind. All prefixes have the same length.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Live => "tnr_live_",
            Self::Test => "tnr_test_",
        }
    }
}

impl<S: Sync> FromRequestParts<S> for KeyKind {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changing_any_character_invalidates_a_key() {
        let key = ApiKey::with_secret(KeyKind::Live, "0123456789abcdefghijABCDEFGHIJKL").unwrap();
        for index in 0..key.reveal().len() {
            let mut changed = key.reveal().to_owned().into_bytes();
            changed[index] = if changed[index] == b'x' { b'y' } else { b'x' };
            assert!(String::from_utf8(changed).unwrap().parse::<ApiKey>().is_err(), "{index}");
        }
    }

    #[test]
    fn a_secret_is_32_letters_and_digits() {
        for secret in ["0123456789abcdefghijABCDEFGHIJK", "0123456789abcdefghijABCDEFGHIJK-"] {
            assert_eq!(ApiKey::with_secret(KeyKind::Live, secret), Err(MalformedKey), "{secret}");
        }
    }

    /// A different hash would invalidate every existing key.
    #[test]
    fn the_hash_is_sha256_and_debug_output_contains_only_the_prefix() {
        let key = ApiKey::with_secret(KeyKind::Live, "SampleKeyForTheEventsAndTheTests").unwrap();
        assert_eq!(key.hash(), "b25fc93392cf74b03e6a0df6639c27296cbed5f457550051176236657795211c");
        assert_eq!(format!("{key:?}"), "ApiKey(tnr_live_Sample…)");
    }

    proptest! {
        #[test]
        fn every_secret_makes_a_valid_key(secret in "[0-9A-Za-z]{32}") {
            for kind in [KeyKind::Live, KeyKind::Test] {
                let key = ApiKey::with_secret(kind, &secret).unwrap();
                prop_assert_eq!(key.reveal().len(), 47);
                prop_assert_eq!(key.reveal().parse::<ApiKey>(), Ok(key.clone()));
                prop_assert_eq!(key.kind(), kind);
            }
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = format!("tnr_live_{text}").parse::<ApiKey>();
        }
    }
}
