//! The commands.

pub(crate) mod help;
mod parsing;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    CliError,
    data::{
        self,
        args::{ImportArgs, ReportArgs, RollbackArgs},
        backup::{BackupArgs, RestoreArgs},
        export::ExportArgs,
        verify::VerifyArgs,
    },
    database::args::DataArgs,
    keys::{self, KeysCommand},
    numbers::{
        self,
        find::FindArgs,
        format::FormatArgs,
        queries::{self, LookupArgs, command::QueryCommand},
    },
    openapi::{self, OpenapiVersion},
    operate::{self, costs::CostsArgs, doctor::DoctorArgs, flags::FlagsArgs, health::HealthArgs},
    serve::{
        self,
        args::{DynamodbArgs, ServeArgs},
    },
};

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
    after_help = COMMAND_HELP,
    after_long_help = format!("{COMMAND_HELP}\n\n{EXIT_CODES}")
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

const COMMAND_HELP: &str = "\
'tnr serve --help' explains the options of the server, and 'tnr COMMAND --help' a command's \
options. Both have examples.";

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 nothing found, invalid number, or failed check; \
2 error or invalid usage; 130 interrupted. For 'tnr doctor', see its help.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API (the default)
    Serve(ServeArgs),
    /// Validate and enrich the phone numbers in a file or stdin
    Format(Box<FormatArgs>),
    /// Find the phone numbers in text files or stdin, or mask them
    Find(FindArgs),
    /// Look up one phone number
    Lookup(LookupArgs),
    #[command(flatten)]
    Query(QueryCommand),
    /// Export the numbering data to files, databases and dialers
    Export(ExportArgs),
    /// Import the published reports
    Import(Box<ImportArgs>),
    /// Roll back to an older version of the data
    Rollback(RollbackArgs),
    /// Compare every lookup item with the current version
    Verify(VerifyArgs),
    /// List the data versions and whether each is readable
    Versions(ReportArgs),
    /// Show how complete the data is, and companies without a type
    Quality(ReportArgs),
    /// Diagnose a deployment and report problems
    #[command(after_help = DOCTOR_EXIT_CODES)]
    Doctor(DoctorArgs),
    /// Create, list, rotate, revoke and delete API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Check a running server's health; exits with 1 if it is not healthy
    Health(HealthArgs),
    /// Run an MCP server over stdio
    Mcp(DataArgs),
    /// Copy the embedded database to a file, even while a server uses it
    Backup(BackupArgs),
    /// Restore the embedded database from a backup
    Restore(RestoreArgs),
    /// Run only the embedded DynamoDB, for `cargo lambda watch`
    Dynamodb(DynamodbArgs),
    /// Write the flag images to a folder, to upload to a bucket or CDN
    Flags(FlagsArgs),
    /// Estimate the monthly bill for a deployment
    Costs(CostsArgs),
    /// Print the API's OpenAPI description
    Openapi {
        /// OpenAPI version (3.0 is for tools without 3.1 support)
        #[arg(long, default_value = "3.1")]
        version: OpenapiVersion,
    },
}

const DOCTOR_EXIT_CODES: &str = "\
Exit codes: 0 no findings; 1 warnings; 2 problems; 3 nothing could be checked, \
or invalid usage.";

pub async fn run(cli: Cli) -> Result<ExitCode, CliError> {
    let result = match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Find(args) => return numbers::find::find(args).await,
        Command::Lookup(args) => return queries::lookup(args).await,
        Command::Query(query) => return queries::run(query).await,
        Command::Doctor(args) => return Ok(operate::doctor::doctor(args).await),
        Command::Serve(args) => serve::serve(args).await,
        Command::Format(args) => numbers::format::format(*args).await,
        Command::Export(args) => data::export::export(args).await,
        Command::Import(args) => data::import::import(*args).await,
        Command::Rollback(args) => data::import::rollback(args).await,
        Command::Verify(args) => data::verify::verify(args).await,
        Command::Versions(args) => data::versions::list(args).await,
        Command::Quality(args) => data::report::show_quality(args).await,
        Command::Keys(command) => keys::run(command).await,
        Command::Health(args) => operate::health::check(args).await,
        Command::Mcp(data) => numbers::mcp::serve(data).await,
        Command::Backup(args) => data::backup::backup(&args).await,
        Command::Restore(args) => data::backup::restore(&args).await,
        Command::Dynamodb(args) => serve::preparation::dynamodb(args).await,
        Command::Flags(args) => operate::flags::write(&args),
        Command::Costs(args) => operate::costs::print(&args),
        Command::Openapi { version } => openapi::print(version),
    };
    result.map(|()| ExitCode::SUCCESS)
}

/// Parses a command's arguments.
#[cfg(test)]
pub(crate) fn parse_args<T: clap::Args>(words: &[&str]) -> T {
    #[derive(Parser)]
    struct Words<T: clap::Args> {
        #[command(flatten)]
        args: T,
    }
    Words::parse_from([&["tnr"], words].concat()).args
}
