//! Options for the number commands.

use std::{path::PathBuf, str::FromStr};

use clap::{
    ArgGroup, Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use format::Include;
use formatting::{DefaultCountry, Languages, Leniency};
use strum::VariantNames;

use crate::{database::args::DataArgs, new_file::Replacement, numbers::list::ListOptions};

/// Output format and data source.
#[derive(Debug, Args)]
pub struct QueryArgs {
    /// Print the API response as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

/// The part of a list to print.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Maximum results [default: 50 in a table, otherwise all]
    #[arg(long, value_name = "N")]
    pub limit: Option<String>,
    /// Results to skip
    #[arg(long, value_name = "N")]
    pub offset: Option<String>,
}

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
pub struct CarrierArgs {
    /// Operating Company Number, or words in a name; the first letters of each word are enough
    #[arg(required = true, value_name = "OCN|WORDS")]
    pub words: Vec<String>,
    /// Only carriers in this state or province
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Only carriers in this country: US or CA
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// Only carriers of this type: ILEC, CLEC, WIRELESS, CAP, IXC or PCS
    #[arg(long = "type", value_name = "TYPE")]
    pub carrier_type: Option<String>,
    /// Show the carrier with this OCN as it was on this date, or at this time in UTC
    #[arg(long, value_name = "DATE", conflicts_with_all = [
        "state", "country", "carrier_type", "limit", "offset",
    ])]
    pub as_of: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub query: QueryArgs,
}

#[derive(Debug, Args)]
pub struct AreaCodeArgs {
    /// Area code, three digits
    pub npa: String,
    /// Exchange code, three digits; shows only that exchange
    pub nxx: Option<String>,
    /// Show the data as it was on this date, or at this time in UTC
    #[arg(long, value_name = "DATE")]
    pub as_of: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub query: QueryArgs,
}

#[derive(Debug, Args)]
pub struct AreaCodesArgs {
    /// Area code, three digits; shows its dialing rules, relief planning and holders
    #[arg(conflicts_with_all = [
        "state", "country", "service", "status", "overlay_of", "in_service_on", "limit", "offset",
    ])]
    pub npa: Option<String>,
    /// Show that area code as it was on this date, or at this time in UTC
    #[arg(long, value_name = "DATE", requires = "npa")]
    pub as_of: Option<String>,
    /// State or province that the code serves
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Country, as ISO 3166-1 alpha-2, such as US, CA or JM
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// Service: GEOGRAPHIC, TOLL_FREE, PREMIUM, NON_GEOGRAPHIC, INTEREXCHANGE_CARRIER or
    /// US_GOVERNMENT
    #[arg(long)]
    pub service: Option<String>,
    /// Status: IN_SERVICE or PLANNED
    #[arg(long)]
    pub status: Option<String>,
    /// Area code whose area the code serves, too
    #[arg(long, value_name = "NPA")]
    pub overlay_of: Option<String>,
    /// Day on which the code is in service, such as 2026-01-01
    #[arg(long, value_name = "DATE")]
    pub in_service_on: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub query: QueryArgs,
}

#[derive(Debug, Args)]
pub struct HoldersArgs {
    /// Area code, three digits
    #[arg(long)]
    pub npa: Option<String>,
    /// State or province
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Full rate center name
    #[arg(long, value_name = "NAME")]
    pub rate_center: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub query: QueryArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("conditions").required(true).multiple(true).args([
    "words", "npa", "nxx", "ocn", "company", "rate_center", "state", "country", "carrier_type", "status",
])))]
pub struct SearchArgs {
    /// Words in a company name, common name or rate center; the first letters of each are enough
    pub words: Vec<String>,
    /// Area code, three digits
    #[arg(long)]
    pub npa: Option<String>,
    /// Exchange code, three digits
    #[arg(long)]
    pub nxx: Option<String>,
    /// Operating Company Number of the carrier that holds the exchange or one of its thousands blocks
    #[arg(long)]
    pub ocn: Option<String>,
    /// Full company name or common name of that carrier
    #[arg(long, value_name = "NAME")]
    pub company: Option<String>,
    /// Full rate center name
    #[arg(long, value_name = "NAME")]
    pub rate_center: Option<String>,
    /// State or province
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Country: US or CA
    #[arg(long, value_name = "CODE")]
    pub country: Option<String>,
    /// Type of that carrier: ILEC, CLEC, WIRELESS, CAP, IXC or PCS
    #[arg(long = "type", value_name = "TYPE")]
    pub carrier_type: Option<String>,
    /// Status: ASSIGNED, UNASSIGNED or RESERVED
    #[arg(long)]
    pub status: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub query: QueryArgs,
}

/// Output format and data source for changes.
#[derive(Debug, Args)]
pub struct ChangesOutput {
    /// Print the API response as JSON
    #[arg(long)]
    pub json: bool,
    /// Print as CSV, with a row per changed field
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct ChangesArgs {
    /// Version, date or time in UTC after which the changes were published [default: 30 days ago]
    #[arg(long, value_name = "VERSION|DATE")]
    pub since: Option<String>,
    /// Only an area code and its exchanges
    #[arg(long)]
    pub npa: Option<String>,
    /// Only a carrier, and exchanges that it held before or after
    #[arg(long)]
    pub ocn: Option<String>,
    /// Only records in this state or province, before or after
    #[arg(long, value_name = "CODE")]
    pub state: Option<String>,
    /// Kind of record: exchange, area_code or carrier
    #[arg(long)]
    pub kind: Option<String>,
    /// Kind of change: added, removed or changed
    #[arg(long)]
    pub change: Option<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub output: ChangesOutput,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// NPA-NXX, such as 415-234, or OCN
    #[arg(required = true, num_args = 1..=2, value_name = "NPA-NXX|OCN")]
    pub code: Vec<String>,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub output: ChangesOutput,
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
