//! The kind of a key: for real requests, or for an integration's tests.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use store::KeyRecord;

/// The kind of a key, which its first characters show. As an extractor, the kind of the request's key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyKind {
    #[default]
    Live,
    /// Test numbers have a fixed outcome (docs/TEST-NUMBERS.md). Everything else is as with a live key.
    Test,
}

impl KeyKind {
    /// The kind of a key from its text; `None` if it has no known prefix.
    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Live, Self::Test].into_iter().find(|kind| key.starts_with(kind.prefix()))
    }

    pub fn from_record(record: &KeyRecord) -> Self {
        Self::from_key(&record.prefix).unwrap_or_default()
    }

    /// The first characters of its keys. All kinds have the same number of them.
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
