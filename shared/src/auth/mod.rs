//! Authentication with API keys.

mod api_key;
mod charge;
mod credentials;
mod key_kind;
mod key_ring;

pub use api_key::{ApiKey, MalformedKey, PREFIX_CHARACTERS, SECRET_CHARACTERS};
pub use charge::Charge;
pub(crate) use credentials::{authenticate, required_key};
pub use key_kind::KeyKind;
pub use key_ring::KeyRing;

/// A key record that never expires and has no quotas.
#[cfg(test)]
pub(crate) fn key_record(key_hash: &str) -> store::KeyRecord {
    store::KeyRecord {
        key_hash: key_hash.to_owned(),
        prefix: "tnr_live_Sample".to_owned(),
        name: "tests".to_owned(),
        note: None,
        created_at: jiff::Timestamp::UNIX_EPOCH,
        expires_at: None,
        revoked_at: None,
        per_minute: None,
        per_day: None,
        quota_id: None,
    }
}
