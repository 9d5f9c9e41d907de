//! The service on one machine: every function behind one port, on an embedded DynamoDB.

pub mod cli;
pub mod database;
pub mod import;
pub mod keys;
pub mod openapi;
mod report;
pub mod serve;
mod stack;
pub mod template;
pub mod verify;
mod versions;

use ingest::IngestError;
use shared::{app::Routes, store::StoreError};

/// Every function that answers HTTP, by the name of its folder.
pub fn functions() -> [(&'static str, Routes); 5] {
    [
        ("carriers", carriers::routes()),
        ("npa", npa::routes()),
        ("format", format::routes()),
        ("search", search::routes()),
        ("status", status::routes()),
    ]
}

/// The routes of every function.
pub fn routes() -> [Routes; 5] {
    functions().map(|(_, routes)| routes)
}

/// Why a command gave up, in words for whoever typed it.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error("{what}: {detail}")]
    Io { what: String, detail: String },
    #[error("template.yaml does not define the tables as expected: {0}")]
    Template(String),
    #[error(transparent)]
    Key(#[from] shared::auth::MalformedKey),
    #[error("the key would have expired already; give a time to come")]
    PastExpiry,
    #[error("the API key {0}… has been revoked or has expired; give another")]
    DeadKey(String),
    #[error(
        "{folder} is in use by another process; end it, or use its DynamoDB with --endpoint-url {endpoint}"
    )]
    InUse { folder: String, endpoint: String },
    #[error("{0} is in use by another command; try again when that has ended")]
    Occupied(String),
    #[error("{0} API keys begin with '{1}'; give a prefix that only one has (see 'keys list')")]
    AmbiguousPrefix(usize, String),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error("the import is refused: {0}")]
    Refused(String),
    #[error("{0} items differ from the current version; run 'verify --repair' to rewrite them")]
    Drift(usize),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LocalError {
    fn io<E: std::fmt::Display>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| Self::Io { what, detail: error.to_string() }
    }
}
