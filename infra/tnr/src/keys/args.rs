//! Arguments for the `keys` command.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use store::KeyRecord;

use crate::{database::args::DataArgs, keys::expiry::Expiry, new_file::Replacement};

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
        /// When the old key expires: a date, or a number of days such as 7d
        #[arg(long, value_name = "WHEN", default_value = "7d")]
        overlap: Expiry,
    },
    /// Revoke the key that starts with PREFIX; it stops working within a minute
    Revoke(KeyArgs),
    /// Delete the key that starts with PREFIX, including its name and note; revoke it first
    Delete(KeyArgs),
    /// Export all keys' hashes, expiries and quotas to a file that only its owner can read
    Export(KeysExportArgs),
    /// Import keys from an exported file. For existing keys, only earlier expiries and revocations
    /// apply; revoked and expired keys never work again
    Import(KeysImportArgs),
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// First characters of the key, as shown by 'tnr keys list'
    pub prefix: String,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct KeysExportArgs {
    /// File to create
    pub file: PathBuf,
    #[command(flatten)]
    pub replacement: Replacement,
    /// Read the keys from this table, such as one restored from a backup
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct KeysImportArgs {
    /// File written by 'keys export'
    pub file: PathBuf,
    /// Show what would change, without changing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Clone, Args)]
pub struct KeyTerms {
    /// Note to show in the list of keys
    #[arg(long)]
    pub note: Option<String>,
    /// When the key expires: a date such as 2027-01-31 (midnight UTC), or a number of days such as
    /// 90d [default: never]
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<Expiry>,
    /// Maximum requests per minute [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_minute: Option<u32>,
    /// Maximum requests per 24 hours [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_day: Option<u32>,
}

impl KeyTerms {
    pub fn with_quotas(&self, record: KeyRecord) -> KeyRecord {
        let &Self { per_minute, per_day, .. } = self;
        KeyRecord { per_minute, per_day, ..record }
    }
}
