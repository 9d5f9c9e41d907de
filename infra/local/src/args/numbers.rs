//! The options of commands that answer from the numbering data without a server.

use std::{path::PathBuf, str::FromStr};

use clap::{ArgGroup, Args, ValueEnum};
use formatting::DefaultCountry;

use super::DataArgs;
use crate::{data::export::Table, new_file::Replacement, numbers::list::ListOptions};

/// The form of an answer, and its data.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// Print what the API answers, as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// The part of a list that is printed.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Maximum results, at most 100 [default: 50]
    #[arg(long, value_name = "N")]
    pub limit: Option<String>,
    /// Results to skip
    #[arg(long, value_name = "N")]
    pub offset: Option<String>,
}

#[derive(Debug, Args)]
pub struct LookupArgs {
    /// A phone number in any notation, of any country
    #[arg(allow_hyphen_values = true)]
    pub number: String,
    /// ISO 3166-1 alpha-2 code of its country, if it is written without a country code; US if left out
    #[arg(long, value_name = "CODE", value_parser = code_of_country)]
    pub country: Option<String>,
    /// Print what the API answers, as JSON: the answer of /v1/format as `format` and, of a North American
    /// number, that of /v1/lookup as `lookup`
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// The code as it was typed, if it is that of a country: the API would name its own parameter.
fn code_of_country(text: &str) -> Result<String, <DefaultCountry as FromStr>::Err> {
    text.parse::<DefaultCountry>().map(|_| text.to_owned())
}

#[derive(Debug, Args)]
pub struct CarrierArgs {
    /// An Operating Company Number, or words with which words of a name begin
    #[arg(required = true, value_name = "OCN|WORDS")]
    pub words: Vec<String>,
    /// Of the carriers with these words only those of this state or province
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Only those of this country, US or CA
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// Only those of this type: ILEC, CLEC, WIRELESS, CAP, IXC or PCS
    #[arg(long = "type", value_name = "TYPE")]
    pub carrier_type: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct AreaCodeArgs {
    /// Three digits
    pub npa: String,
    /// The three digits after them, to see one exchange
    pub nxx: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("conditions").required(true).multiple(true).args([
    "words", "npa", "nxx", "ocn", "company", "rate_center", "state", "country", "carrier_type", "status",
])))]
pub struct SearchArgs {
    /// Words with which words of a company name, common name or rate center begin
    pub words: Vec<String>,
    /// Area code
    #[arg(long)]
    pub npa: Option<String>,
    /// Exchange code
    #[arg(long)]
    pub nxx: Option<String>,
    /// Operating Company Number of the holder of the exchange or of a thousands block of it
    #[arg(long)]
    pub ocn: Option<String>,
    /// Whole company name or common name of such a holder
    #[arg(long, value_name = "NAME")]
    pub company: Option<String>,
    /// Whole rate center
    #[arg(long, value_name = "NAME")]
    pub rate_center: Option<String>,
    /// State or province
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Country, US or CA
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// Type of such a holder: ILEC, CLEC, WIRELESS, CAP, IXC or PCS
    #[arg(long = "type", value_name = "TYPE")]
    pub carrier_type: Option<String>,
    /// ASSIGNED, UNASSIGNED or RESERVED
    #[arg(long)]
    pub status: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct FormatArgs {
    /// A CSV, or a text with a number in each line; the standard input if left out or -
    pub file: Option<PathBuf>,
    /// Write to this file instead of stdout; it appears only when it is complete
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub list: ListOptions,
    /// End with exit code 1 if a number was rejected
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// A table, or a folder of them
    Csv,
    /// A table with a JSON object in each line, or a folder of them
    #[value(name = "jsonl")]
    JsonLines,
    /// A database of all tables
    Sqlite,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The file or, for csv and jsonl without --table, the folder to make; it has its name only once it is
    /// complete. With --table it may be left out: the table then goes to the standard output
    #[arg(required_unless_present = "table")]
    pub file: Option<PathBuf>,
    /// The form of the export
    #[arg(long, value_name = "FORM")]
    pub format: ExportForm,
    /// Only this table, as one file
    #[arg(long)]
    pub table: Option<Table>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub data: DataArgs,
}
