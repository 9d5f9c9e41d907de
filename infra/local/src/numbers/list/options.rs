//! List options.

use std::path::Path;

use clap::{Args, ValueEnum};
use format::extras::Include;
use formatting::{DefaultCountry, Languages};

use super::fields::ListFields;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Columns with a header row
    Csv,
    /// One number per line
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The list's columns, followed by the added ones
    Csv,
    /// One JSON object per line
    #[value(name = "jsonl")]
    JsonLines,
}

/// The rows to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFilter {
    /// Rows with a valid or repaired number
    Valid,
    /// Rows without a valid number
    Rejected,
}

/// The handling of duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Duplicates {
    /// Mark each duplicate with the line it repeats
    Mark,
    /// Drop rows whose valid numbers are all duplicates
    Drop,
}

#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    /// Output format [default: from the --output file name, else csv for a CSV and jsonl for a text
    /// file]
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<OutputFormat>,
    /// Input format [default: from the file name or the first row]
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<ListFormat>,
    /// CSV column with the numbers, by name or position, starting at 1 [default: the one whose name
    /// suggests phone numbers]. Repeatable. With several, added columns have names such as
    /// tn_Home_Phone_e164, and JSON has one line per number
    #[arg(long, value_name = "COLUMN")]
    pub column: Vec<String>,
    /// Comma-separated fields to add, by API path or column name, such as
    /// valid,e164,carrier.name,verdict,line_number [default: all but optional ones]
    #[arg(long, value_name = "FIELDS")]
    pub fields: Option<ListFields>,
    /// Optional fields to add as well, comma-separated: line, assignment, timezone, place, network, or
    /// all
    #[arg(long, value_name = "FIELDS", conflicts_with = "fields")]
    pub include: Option<Include>,
    /// Language of place and network names, such as de or zh-Hant [default: en]
    #[arg(long, value_name = "TAG")]
    pub lang: Option<Languages>,
    /// Prefix for the columns added to a CSV
    #[arg(long, value_name = "TEXT", default_value = "tn_")]
    pub prefix: String,
    /// Rows to write; a row is valid if any of its numbers is
    #[arg(long, value_name = "ROWS")]
    pub only: Option<RowFilter>,
    /// Detect valid numbers that repeat an earlier one, by E.164 and extension. Without a value,
    /// writes the line of the first occurrence to tn_duplicate_of. Uses up to 80 MB of memory per
    /// million distinct numbers
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mark"
    )]
    pub dedupe: Option<Duplicates>,
    /// Put an apostrophe before the list's own cells that a spreadsheet would run as formulas; added
    /// cells always get one
    #[arg(long)]
    pub excel_safe: bool,
    /// The CSV has no header row
    #[arg(long)]
    pub no_header: bool,
    /// Country for numbers without a country code, as ISO 3166-1 alpha-2 [default: US]
    #[arg(long, value_name = "CODE")]
    pub country: Option<DefaultCountry>,
    /// CSV column with the country of each number; empty cells use --country [default: the column
    /// named defaultCountry]
    #[arg(long, value_name = "COLUMN")]
    pub country_column: Option<String>,
}

impl ListOptions {
    /// Infers missing formats from the file names, and from options that only apply to CSV.
    pub fn infer_formats(&mut self, list: Option<&Path>, output: Option<&Path>) {
        let has_columns =
            !self.column.is_empty() || self.country_column.is_some() || self.no_header;
        let from_options = has_columns.then_some(ListFormat::Csv);
        self.from = self.from.or(from_options).or_else(|| match &*extension(list?) {
            "csv" | "tsv" => Some(ListFormat::Csv),
            "txt" => Some(ListFormat::Text),
            _ => None,
        });
        self.to = self.to.or_else(|| match &*extension(output?) {
            "csv" | "tsv" => Some(OutputFormat::Csv),
            "jsonl" | "ndjson" => Some(OutputFormat::JsonLines),
            _ => None,
        });
    }
}

fn extension(file: &Path) -> String {
    file.extension().map(|it| it.to_string_lossy().to_lowercase()).unwrap_or_default()
}
