//! Options for the number commands.

use std::{path::PathBuf, str::FromStr};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use format::Include;
use formatting::{DefaultCountry, Languages, Leniency};
use strum::VariantNames;

use crate::{database::args::DataArgs, new_file::Replacement, numbers::list::ListOptions};

#[derive(Debug, Args)]
pub struct LookupArgs {
    /// Phone number in any format, from any country
    #[arg(allow_hyphen_values = true)]
    pub number: String,
    /// Country for a number without a country code, as ISO 3166-1 alpha-2 [default: US]
    #[arg(long, value_name = "CODE", value_parser = country_code)]
    pub country: Option<String>,
    /// Language of place and network names, such as de or zh-Hant [default: en]
    #[arg(long, value_name = "TAG", value_parser = language)]
    pub lang: Option<String>,
    /// Look up the data as it was on this date, or at this time in UTC
    #[arg(long, value_name = "DATE")]
    pub as_of: Option<String>,
    /// Print the API responses as JSON: `format` from /v1/format and, for North American numbers,
    /// `lookup` from /v1/lookup
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// Validates a country code here, because the API's error would name the API's parameter.
fn country_code(text: &str) -> Result<String, <DefaultCountry as FromStr>::Err> {
    text.parse::<DefaultCountry>().map(|_| text.to_owned())
}

/// Validates a language for the same reason.
fn language(tag: &str) -> Result<String, <Languages as FromStr>::Err> {
    tag.parse::<Languages>().map(|_| tag.to_owned())
}

#[derive(Debug, Args)]
pub struct FormatArgs {
    /// CSV file, or text file with one number per line [default: stdin]
    pub file: Option<PathBuf>,
    /// Write to this file instead of stdout; an incomplete file is never left behind
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub list: ListOptions,
    /// Exit with code 1 if any number is rejected
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct FindArgs {
    /// Text files, or - for stdin [default: stdin]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Country for numbers without a country code, as ISO 3166-1 alpha-2 [default: US]
    #[arg(long, value_name = "CODE")]
    pub country: Option<DefaultCountry>,
    /// Strictness of the search [default: valid; with --redact, possible and vanity numbers]
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = PossibleValuesParser::new(Leniency::VARIANTS).try_map(|level| level.parse::<Leniency>())
    )]
    pub leniency: Option<Leniency>,
    /// Print only the numbers, each on its own line
    #[arg(long, short, conflicts_with_all = ["json", "redact"])]
    pub only_matching: bool,
    /// Print each number as a line of JSON: its line, its position there in code points, and the API's
    /// result
    #[arg(long, conflicts_with = "redact")]
    pub json: bool,
    /// Print the whole text with each digit of a number, and each letter of a vanity number, replaced by an
    /// asterisk
    #[arg(long)]
    pub redact: bool,
    #[arg(
        long, value_name = "FIELDS", requires = "json",
        help = format!("Optional fields to add to the JSON, comma-separated: {}", Include::names().join(", "))
    )]
    pub include: Option<Include>,
    /// Language of place and network names, such as de or zh-Hant [default: en]
    #[arg(long, value_name = "TAG", requires = "include")]
    pub lang: Option<Languages>,
    #[command(flatten)]
    pub data: DataArgs,
}
