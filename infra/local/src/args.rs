//! What can be typed on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{expiry::Expiry, report::ChangesFile};

mod data;
mod environment;
mod flags;
mod numbers;
mod serving;

use data::endpoint_url;
pub use data::{DATA_DIR, DataArgs, DatabaseArgs, FolderArgs};
pub use flags::FlagsArgs;
pub use numbers::{
    AnswerArgs, AreaCodeArgs, CarrierArgs, ExportArgs, ExportForm, ExportTable, FormatArgs,
    ListForm, LookupArgs, NumberForm, PageArgs, SearchArgs,
};
pub use serving::{ApiAddress, BackupArgs, HealthArgs, RestoreArgs, ServeArgs};

/// The Telephone Number Reference Service on one machine.
///
/// Without a command it serves the API on an embedded DynamoDB, with a sample of the numbering
/// data, and prints a key and requests to try.
#[derive(Debug, Parser)]
#[command(name = "tnr", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API (the default)
    Serve(ServeArgs),
    /// Say what the phone numbers of a file or pipe are
    Format(Box<FormatArgs>),
    /// Say what a phone number is, and who holds its block
    Lookup(LookupArgs),
    /// Show a carrier by its OCN, or carriers by words
    Carrier(CarrierArgs),
    /// Show the exchanges of an area code, or one of them
    AreaCode(AreaCodeArgs),
    /// Find exchanges by words and filters
    Search(Box<SearchArgs>),
    /// Write the whole numbering data into files or a database, with where it comes from
    Export(ExportArgs),
    /// Import the published reports
    Import(Box<ImportArgs>),
    /// Go back to the version before the current one
    Rollback(ChangeArgs),
    /// Compare every lookup item with the current version of the data
    Verify(VerifyArgs),
    /// List the current version of the data and the retained ones, and how complete each is
    Versions(VersionsArgs),
    /// Examine a deployment and say what is wrong; ends with 0 if all is well, 1 for warnings, 2 for
    /// problems and 3 if nothing could be examined or the command line is not understood
    Doctor(DoctorArgs),
    /// Make, list, rotate, revoke, export and import API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Ask a running server how it is, for health checks; ends with an error unless it is well
    Health(HealthArgs),
    /// Answer an agent over standard input and output, by the Model Context Protocol; it ends with the
    /// input
    Mcp(McpArgs),
    /// Copy the embedded database into a file, even while it is served
    Backup(BackupArgs),
    /// Make the embedded database of a folder without one from a backup
    Restore(RestoreArgs),
    /// Run only the embedded DynamoDB, for `cargo lambda watch`
    Dynamodb(DynamodbArgs),
    /// Write the images of flags into a folder, for a bucket or a CDN
    Flags(FlagsArgs),
    /// Compute the monthly bill of a deployment from measures, list prices and template.yaml
    Costs(CostsArgs),
    /// Print the OpenAPI description of the API
    Openapi {
        /// The version of OpenAPI: 3.0 for generators that know no later one
        #[arg(long, default_value = "3.1")]
        version: OpenapiVersion,
    },
}

/// A version of OpenAPI.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OpenapiVersion {
    #[value(name = "3.1")]
    V3_1,
    #[value(name = "3.0")]
    V3_0,
}

#[derive(Debug, Args)]
pub struct CostsArgs {
    /// Requests in a month
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub requests: u64,
    /// The percentage of the requests that start a container
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percentage)]
    pub cold: f64,
    /// With traces sent to X-Ray
    #[arg(long)]
    pub tracing: bool,
    /// With CloudFront and a firewall in front
    #[arg(long)]
    pub edge: bool,
    /// A day at the limit of requests that the deployment takes, each as large as can be. In front of it
    /// no limit holds, so that there is no such day with --edge
    #[arg(long, conflicts_with_all = ["requests", "edge"])]
    pub worst_case: bool,
    /// Print the document docs/COSTS.md
    #[arg(long, conflicts_with_all = ["requests", "cold", "tracing", "edge", "worst_case"])]
    pub markdown: bool,
}

fn percentage(text: &str) -> Result<f64, String> {
    let in_range = |share: &f64| (0.0..=100.0).contains(share);
    text.parse().ok().filter(in_range).ok_or_else(|| "must be a number from 0 to 100".to_owned())
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// Register this API key instead of making one, for scripts
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

/// A report may be a path, an https:// address or an s3:// object.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Fetch what is not named below from where NANPA and CNAC publish it
    #[arg(long)]
    pub fetch: bool,
    /// Fetch it from a mirror, which has the reports under their published names below this URL:
    /// https://, or http:// on this machine
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
    /// Refuse the import if more than this percentage of a country's records, of the carriers, of
    /// the carriers with a type, or of the area codes would be removed
    #[arg(long, value_name = "PERCENT", default_value_t = ingest::Options::default().max_shrink)]
    pub max_shrink: ingest::Percent,
    /// Allow larger changes than the gates do: of a column's coverage in a country or an area code,
    /// in percentage points, and of the share of exchanges, carriers or area codes that change; 100
    /// turns these gates off
    #[arg(long, value_name = "PERCENT")]
    pub max_change: Option<ingest::Percent>,
    /// Allow more suspect rows in a report than the gates do: an unknown word in a column, a needed
    /// column blank, the same value everywhere; 100 turns these gates off
    #[arg(long, value_name = "PERCENT")]
    pub max_suspect: Option<ingest::Percent>,
    /// Import files that are older than the current data
    #[arg(long)]
    pub allow_older: bool,
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// How the data is changed, and where.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Show what would change, record by record, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write every record that is added, removed or changed to this file, with its old and new
    /// values: as CSV if its name ends in .csv, as JSON lines if in .jsonl. The report itself lists
    /// the first hundred
    #[arg(long, value_name = "FILE")]
    pub changes: Option<ChangesFile>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Rewrite the items that differ
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
    /// Print the list as JSON, with the quality of each version
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// Without any of `--stack`, `--data-dir`, `--endpoint-url` and `--url`, or the variables of the two in
/// the middle, the embedded database is examined.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Examine this deployed stack; region and credentials come from the environment
    #[arg(long, value_name = "NAME", conflicts_with_all = ["endpoint_url", "data_dir"])]
    pub stack: Option<String>,
    /// Examine the embedded DynamoDB in this folder
    #[arg(long, value_name = "DIR", env = "TNR_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Examine the DynamoDB at this URL instead of an embedded one
    #[arg(long, value_name = "URL", env = "TNR_ENDPOINT_URL", value_parser = endpoint_url)]
    pub endpoint_url: Option<String>,
    /// Ask each endpoint of the service at this address; with --stack, instead of at the stack's own
    #[arg(long, value_name = "BASE_URL", value_parser = endpoint_url)]
    pub url: Option<String>,
    /// Ask the endpoints with this API key, too
    #[arg(long, value_name = "KEY", env = "TNR_KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// How long each group of checks may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key and show it; it cannot be shown again
    Create {
        /// Who or what the key is for
        #[arg(long)]
        name: String,
        #[command(flatten)]
        terms: KeyTerms,
        #[command(flatten)]
        data: DataArgs,
    },
    /// List every key by its prefix
    List {
        #[command(flatten)]
        data: DataArgs,
    },
    /// Replace the key that begins with PREFIX; both work for a while and share one quota
    Rotate {
        prefix: String,
        /// How long the old key still works: a date, or days such as 7d
        #[arg(long, value_name = "WHEN", default_value = "7d")]
        overlap: Expiry,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Revoke the key that begins with PREFIX; it stops working within a minute
    Revoke {
        prefix: String,
        #[command(flatten)]
        data: DataArgs,
    },
    /// Write the hashes and terms of all keys to a new file, which only its owner can read
    Export(KeysExportArgs),
    /// Add the keys of an exported file. A key that is there already keeps its terms, except that
    /// it ends as early as the file says; nothing that has ended works again
    Import(KeysImportArgs),
}

#[derive(Debug, Args)]
pub struct KeysExportArgs {
    /// The file to make; one that exists is not overwritten
    pub file: PathBuf,
    /// Read the keys from this table, such as one that was restored from a backup
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct KeysImportArgs {
    /// A file that 'keys export' wrote
    pub file: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// What a key may do, and how long.
#[derive(Debug, Clone, Args)]
pub struct KeyTerms {
    /// A note for whoever lists the keys
    #[arg(long)]
    pub note: Option<String>,
    /// When it ends: a date such as 2027-01-31 (midnight UTC), or days such as 90d
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<Expiry>,
    /// Requests it may make in any minute; any number if left out
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_minute: Option<u32>,
    /// Requests it may make in any 24 hours; any number if left out
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_day: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_of_serve_need_no_command() {
        let cli = Cli::try_parse_from(["tnr", "--port", "4000"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.address.port, 4000);
    }
}
