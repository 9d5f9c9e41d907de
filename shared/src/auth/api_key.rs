//! The form of a key: `tnr_live_`, 32 random base62 characters and 6 of checksum, so that a
//! mistyped or made-up one is refused without a read, and scanners can recognise a leaked one.

use std::{fmt, str::FromStr};

use store::sha256;

const START: &str = "tnr_live_";
/// Characters of chance: 190 bits.
pub const SECRET_CHARACTERS: usize = 32;
const CHECKSUM_CHARACTERS: usize = 6;
/// How much of a key an operator sees of it: enough to tell keys apart.
pub const PREFIX_CHARACTERS: usize = START.len() + 6;

/// A well-formed key. Neither printed nor logged by accident: it has no `Debug` of its content.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Text that cannot be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an API key: one is '{START}', 32 letters or digits, and a checksum of 6 that fits them"
)]
pub struct MalformedKey;

impl ApiKey {
    /// The key with this secret part.
    ///
    /// # Errors
    /// Returns an error if `secret` is not 32 letters or digits.
    pub fn with_secret(secret: &str) -> Result<Self, MalformedKey> {
        let well_formed = secret.len() == SECRET_CHARACTERS
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match well_formed {
            true => Ok(Self(format!("{START}{secret}{}", checksum(secret)))),
            false => Err(MalformedKey),
        }
    }

    /// SHA-256 in hex: all the service ever stores of a key.
    pub fn hash(&self) -> String {
        sha256(self.0.as_bytes())
    }

    /// The first characters, by which an operator knows it.
    pub fn prefix(&self) -> &str {
        &self.0[..PREFIX_CHARACTERS]
    }

    /// The whole key, to be shown once to whom it is made for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// CRC-32 in base62: six characters hold any of its values.
fn checksum(secret: &str) -> String {
    let digits = base62::encode(crc32fast::hash(secret.as_bytes()));
    format!("{digits:0>CHECKSUM_CHARACTERS$}")
}

impl FromStr for ApiKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let secret = text
            .strip_prefix(START)
            .filter(|rest| rest.is_ascii() && rest.len() == SECRET_CHARACTERS + CHECKSUM_CHARACTERS)
            .ok_or(MalformedKey)?;
        let key = Self::with_secret(&secret[..SECRET_CHARACTERS])?;
        (key.0 == text).then_some(key).ok_or(MalformedKey)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}…)", self.prefix())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn example() -> ApiKey {
        ApiKey::with_secret("0123456789abcdefghijABCDEFGHIJKL").unwrap()
    }

    #[test]
    fn a_key_reads_back_and_any_changed_character_is_refused() {
        let key = example();
        assert_eq!(key.reveal().parse(), Ok(key.clone()));
        for place in 0..key.reveal().len() {
            let mut changed = key.reveal().to_owned().into_bytes();
            changed[place] = if changed[place] == b'x' { b'y' } else { b'x' };
            assert!(String::from_utf8(changed).unwrap().parse::<ApiKey>().is_err(), "{place}");
        }
    }

    #[test]
    fn debug_shows_the_prefix_only() {
        assert_eq!(format!("{:?}", example()), "ApiKey(tnr_live_012345…)");
    }

    proptest! {
        #[test]
        fn every_secret_makes_a_key_that_reads_back(secret in "[0-9A-Za-z]{32}") {
            let key = ApiKey::with_secret(&secret).unwrap();
            prop_assert_eq!(key.reveal().len(), 47);
            prop_assert_eq!(key.reveal().parse::<ApiKey>(), Ok(key.clone()));
        }

        #[test]
        fn any_text_is_read_or_refused_without_panic(text in any::<String>(), rest in any::<String>()) {
            let _ = text.parse::<ApiKey>();
            let _ = format!("tnr_live_{rest}").parse::<ApiKey>();
        }
    }
}
