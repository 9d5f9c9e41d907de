//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{data::report::ChangesFile, new_file::Replacement};

mod data;
mod help;
mod keys;
mod numbers;
mod reading;
mod serving;

use data::endpoint_url;
pub use data::{DataArgs, DatabaseArgs, FolderArgs};
pub use keys::{KeyTerms, KeysCommand, KeysExportArgs, KeysImportArgs};
pub use numbers::{
    AnswerArgs, AreaCodeArgs, CarrierArgs, ExportArgs, ExportForm, FormatArgs, LookupArgs,
    PageArgs, SearchArgs,
};
pub use serving::{ApiAddress, BackupArgs, ConnectionArgs, HealthArgs, RestoreArgs, ServeArgs};

/// Telephone Number Reference Service on one machine.
///
/// Without a command, serves the API from an embedded DynamoDB with sample numbering data, and
/// prints a key and requests to try.
#[derive(Debug, Parser)]
#[command(
    name = "tnr",
    version,
    args_conflicts_with_subcommands = true,
    override_usage = "tnr [OPTIONS]\n       tnr [OPTIONS] NUMBER\n       tnr COMMAND [OPTIONS]",
    after_help = EXIT_CODES
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// The end of the help. `doctor` has its own codes, listed in its help.
const EXIT_CODES: &str = "\
Exit codes: 0 found or done; 1 nothing found, not a valid number, or a check \
that failed; 2 wrong command line or an error; 130 interrupted. 'tnr doctor' \
has its own.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API (the default)
    Serve(ServeArgs),
    /// Validate and enrich the phone numbers in a file or stdin
    Format(Box<FormatArgs>),
    /// Look up one phone number
    Lookup(LookupArgs),
    /// Show a carrier by OCN, or find carriers by name
    Carrier(CarrierArgs),
    /// Show an area code's exchanges, or one exchange
    AreaCode(AreaCodeArgs),
    /// Search exchanges by words and filters
    #[command(override_usage = "tnr search [OPTIONS] [WORDS]...")]
    Search(Box<SearchArgs>),
    /// Export the numbering data to SQLite, CSV or JSON Lines
    Export(ExportArgs),
    /// Import the published reports
    Import(Box<ImportArgs>),
    /// Roll back to an older version of the data
    Rollback(RollbackArgs),
    /// Compare every lookup item with the current version
    Verify(VerifyArgs),
    /// List the current and retained versions and their completeness
    Versions(VersionsArgs),
    /// Diagnose a deployment and report problems
    #[command(after_help = EXIT_CODES_OF_DOCTOR)]
    Doctor(DoctorArgs),
    /// Create, list, rotate, revoke, delete, export and import API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Check a running server's health; exits 1 if it is not healthy
    Health(HealthArgs),
    /// Run an MCP server over stdio
    Mcp(McpArgs),
    /// Copy the embedded database to a file, even while it is served
    Backup(BackupArgs),
    /// Restore the embedded database from a backup
    Restore(RestoreArgs),
    /// Run only the embedded DynamoDB, for `cargo lambda watch`
    Dynamodb(DynamodbArgs),
    /// Write the flag images to a folder, for a bucket or a CDN
    Flags(FlagsArgs),
    /// Estimate a deployment's monthly bill
    Costs(CostsArgs),
    /// Print the API's OpenAPI description
    Openapi {
        /// OpenAPI version; 3.0 is for generators without 3.1 support
        #[arg(long, default_value = "3.1")]
        version: OpenapiVersion,
    },
}

const EXIT_CODES_OF_DOCTOR: &str = "\
Exit codes: 0 all is well; 1 warnings; 2 problems; 3 nothing could be examined, \
or a wrong command line.";

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OpenapiVersion {
    #[value(name = "3.1")]
    V3_1,
    #[value(name = "3.0")]
    V3_0,
}

#[derive(Debug, Args)]
pub struct FlagsArgs {
    /// Folder to write to, created if missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub replacement: Replacement,
}

#[derive(Debug, Args)]
pub struct CostsArgs {
    /// Requests per month
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub requests: u64,
    /// Percentage of requests that start a container
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percentage)]
    pub cold: f64,
    /// Include traces sent to X-Ray
    #[arg(long)]
    pub tracing: bool,
    /// Include CloudFront and a firewall in front of the API
    #[arg(long)]
    pub edge: bool,
    /// Estimate one day at the deployment's request limit, with the most expensive requests. Not
    /// available with --edge, where no limit applies
    #[arg(long, conflicts_with_all = ["requests", "edge"])]
    pub worst_case: bool,
    /// Print docs/COSTS.md
    #[arg(long, conflicts_with_all = ["requests", "cold", "tracing", "edge", "worst_case"])]
    pub markdown: bool,
}

fn percentage(text: &str) -> Result<f64, String> {
    let in_range = |share: &f64| (0.0..=100.0).contains(share);
    text.parse().ok().filter(in_range).ok_or_else(|| "must be a number from 0 to 100".to_owned())
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// Register this API key instead of generating one, for scripts
    #[arg(long = "key", value_name = "KEY", env = "TNR_KEY", hide_env_values = true)]
    pub given: Option<String>,
}

#[derive(Debug, Args)]
pub struct DynamodbArgs {
    /// Port of the embedded DynamoDB
    #[arg(long, default_value_t = 8000)]
    pub port: u16,
    #[command(flatten)]
    pub key: KeyArgs,
    #[command(flatten)]
    pub folder: FolderArgs,
}

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
pub struct McpArgs {
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

/// Without options that name a target, examines the same data as the other commands.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Test each endpoint of the service at this URL; overrides the stack's URL with --stack
    #[arg(long, value_name = "BASE_URL", value_parser = endpoint_url)]
    pub url: Option<String>,
    /// Also test the endpoints with this API key
    #[arg(long, value_name = "KEY", env = "TNR_KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// Timeout of each group of checks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_options_need_no_command() {
        let cli = Cli::try_parse_from(["tnr", "--port", "4000"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.address.port, 4000);
    }
}
