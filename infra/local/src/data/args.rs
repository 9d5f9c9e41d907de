//! The arguments of commands on the numbering data.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    data::{export::tables::Table, report::ChangesFile},
    database::args::{DataArgs, FolderArgs},
    new_file::Replacement,
};

/// A report may be a path, an https:// URL or an s3:// object.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Download the reports not named below from NANPA and CNAC
    #[arg(long)]
    pub fetch: bool,
    /// Download from a mirror with the published file names below this URL: https://, or http:// on
    /// this machine
    #[arg(long, value_name = "URL", env = "TNR_MIRROR", hide_env_values = true)]
    pub mirror: Option<ingest::Mirror>,
    /// NANPA's utilized central office codes, text or zip
    #[arg(long, value_name = "FILE", required_unless_present_any = ["fetch", "mirror"])]
    pub nanpa: Option<ingest::Source>,
    /// CNAC's CO code status report, CSV or zip
    #[arg(long, value_name = "FILE", required_unless_present_any = ["fetch", "mirror"])]
    pub cnac: Option<ingest::Source>,
    /// NANPA's area code database, npa_report.csv
    #[arg(long, value_name = "FILE", required_unless_present_any = ["fetch", "mirror"])]
    pub npa_report: Option<ingest::Source>,
    /// Carrier types and trade names: ocn,company_name,common_name,carrier_type,state,country
    #[arg(long, value_name = "FILE")]
    pub carriers: Option<ingest::Source>,
    /// NANPA's thousands block assignments, CSV or zip
    #[arg(long, value_name = "FILE")]
    pub thousands_blocks: Option<ingest::Source>,
    /// Allow this many records of one kind to differ from an older version: a country's exchanges,
    /// carriers, area codes or thousands blocks. A refused import names the number
    #[arg(long, value_name = "COUNT")]
    pub max_change: Option<u32>,
    /// Allow one state, carrier or area code to lose or change this many exchanges. A refused
    /// import names the number
    #[arg(long, value_name = "COUNT")]
    pub max_loss: Option<u32>,
    /// Allow this percentage of suspect rows in a report: an unknown word, a missing required
    /// value, or the same value everywhere. 100 turns these gates off
    #[arg(long, value_name = "PERCENT")]
    pub max_suspect: Option<ingest::Percent>,
    /// Import files older than the current data
    #[arg(long)]
    pub allow_older: bool,
    /// Start over if the manifest, which names the versions, is damaged
    #[arg(long)]
    pub replace_manifest: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

impl ImportArgs {
    pub(crate) fn waivers(&self) -> ingest::Waivers {
        let &Self { max_change, max_loss, max_suspect, allow_older, .. } = self;
        ingest::Waivers { max_change, max_loss, max_suspect, allow_older }
    }
}

/// Options of commands that change the data.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Show what would change, record by record, without changing anything
    #[arg(long)]
    pub dry_run: bool,
    /// Write every added, removed or changed record to this file, with old and new values, as CSV
    /// (.csv) or JSON Lines (.jsonl). The report itself lists the first 100
    #[arg(long, value_name = "FILE")]
    pub changes: Option<ChangesFile>,
    /// Replace the --changes file if it exists
    #[arg(long, requires = "changes")]
    pub force: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct RollbackArgs {
    /// Version to roll back to [default: the newest readable version before the current one]
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    #[command(flatten)]
    pub change: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Rewrite items that differ
    #[arg(long)]
    pub repair: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct VersionsArgs {
    /// Print the list as JSON, including each version's quality
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// File to write, or to read with --verify
    pub file: PathBuf,
    /// Only check a file written by `backup`
    #[arg(long, conflicts_with_all = ["force", "data_dir"])]
    pub verify: bool,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub folder: FolderArgs,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// File written by `backup`
    pub file: PathBuf,
    #[command(flatten)]
    pub folder: FolderArgs,
}

/// An export format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// A CSV table, or a folder of them
    Csv,
    /// A table with one JSON object per line, or a folder of them
    #[value(name = "jsonl")]
    JsonLines,
    /// One SQLite database with all tables
    Sqlite,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// File to create, or folder for csv and jsonl without --table; it appears only when complete.
    /// Optional with --table, which defaults to stdout
    #[arg(required_unless_present = "table")]
    pub file: Option<PathBuf>,
    /// Export format
    #[arg(long, value_name = "FORM")]
    pub format: ExportForm,
    /// Export only this table, as one file
    #[arg(long)]
    pub table: Option<Table>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub data: DataArgs,
}
