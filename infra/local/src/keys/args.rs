//! The arguments of `keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::{database::args::DataArgs, keys::expiry::Expiry, new_file::Replacement};

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a key and show it once; it cannot be shown again
    Create {
        /// Client or purpose of the key
        #[arg(long)]
        name: String,
        #[command(flatten)]
        terms: KeyTerms,
        #[command(flatten)]
        data: DataArgs,
    },
    /// List all keys by prefix
    List {
        #[command(flatten)]
        data: DataArgs,
    },
    /// Replace the key that starts with PREFIX; both work during the overlap and share one quota
    Rotate {
        prefix: String,
        /// Expiry of the old key: a date, or days such as 7d
        #[arg(long, value_name = "WHEN", default_value = "7d")]
        overlap: Expiry,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Revoke the key that starts with PREFIX; it stops working within a minute
    Revoke {
        prefix: String,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Delete the key that starts with PREFIX, including its name and note; revoke it first
    Delete {
        prefix: String,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Export the hashes and terms of all keys to a file that only its owner can read
    Export(KeysExportArgs),
    /// Import keys from an exported file. An existing key keeps its terms, but takes the earlier
    /// expiry and any revocation. Revoked and expired keys never work again
    Import(KeysImportArgs),
}

#[derive(Debug, Args)]
pub struct KeysExportArgs {
    /// File to create
    pub file: PathBuf,
    #[command(flatten)]
    pub replacement: Replacement,
    /// Read the keys from this table, for example one restored from a backup
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

/// A key's limits.
#[derive(Debug, Clone, Args)]
pub struct KeyTerms {
    /// Note to show when keys are listed
    #[arg(long)]
    pub note: Option<String>,
    /// Expiry: a date such as 2027-01-31 (midnight UTC), or days such as 90d [default: never]
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<Expiry>,
    /// Maximum requests per minute [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_minute: Option<u32>,
    /// Maximum requests per 24 hours [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_day: Option<u32>,
}
