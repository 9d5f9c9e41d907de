//! Authentication with API keys.

mod api_key;
mod charge;
mod key_ring;

pub use api_key::{ApiKey, KeyKind, MalformedKey, PREFIX_LENGTH, SECRET_LENGTH};
pub use charge::Charge;
pub(crate) use charge::{authenticate, required_key};
pub use key_ring::KeyRing;

/// A key record that never expires and has no quotas.
#[cfg(test)]
pub(crate) fn key_record(key_hash: &str) -> store::KeyRecord {
    let created_at = jiff::Timestamp::UNIX_EPOCH;
    store::KeyRecord::new(key_hash.to_owned(), "tnr_live_Sample", "tests", created_at)
}
