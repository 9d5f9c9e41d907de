//! List options.

use std::path::Path;

use clap::{Args, ValueEnum};
use format::Include;
use formatting::{DefaultCountry, Languages};

use super::fields::ListFields;
use crate::CliError;

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
    /// The same, separated by tabs
    Tsv,
    /// A JSON array with an object per number
    Json,
    /// One JSON object per line
    #[value(name = "jsonl", alias = "ndjson")]
    JsonLines,
}

/// The rows to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFilter {
    /// Rows with a valid or repaired number
    Valid,
    /// Other rows with a rejected number
    Rejected,
    /// Rows with empty cells in all number columns
    Empty,
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
    /// Output format [default: from the --output file name, otherwise csv for CSV input and jsonl
    /// for text]
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
    /// valid,e164,carrier.name,verdict,line_number, or all [default: ten columns in CSV, and all but
    /// optional fields in JSON]
    #[arg(long, value_name = "FIELDS")]
    pub fields: Option<ListFields>,
    #[arg(
        long, value_name = "FIELDS", conflicts_with = "fields",
        help = format!("Optional fields to add to the default, comma-separated: {}", Include::names().join(", "))
    )]
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
    /// writes the line of the first occurrence to tn_duplicate_of. Uses up to 100 MB of memory per
    /// million distinct numbers
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mark"
    )]
    pub dedupe: Option<Duplicates>,
    /// Start a CSV with a byte order mark, so that Excel reads it as UTF-8
    #[arg(long)]
    pub bom: bool,
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
    /// Returns `true` if the output has fields from other countries' ranges.
    pub fn needs_countries(&self) -> bool {
        let selected = self.fields.as_ref().map(|fields| &fields.include);
        [self.include.as_ref(), selected].into_iter().flatten().any(Include::needs_countries)
    }

    /// Infers missing formats from file names and CSV-only options. Returns an error if the output's name has the
    /// extension of a different format.
    pub fn infer_formats(
        &mut self,
        list: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<(), CliError> {
        let has_columns =
            !self.column.is_empty() || self.country_column.is_some() || self.no_header;
        let from_options = has_columns.then_some(ListFormat::Csv);
        self.from = self.from.or(from_options).or_else(|| match &*extension(list?) {
            "csv" | "tsv" => Some(ListFormat::Csv),
            "txt" => Some(ListFormat::Text),
            _ => None,
        });
        if self.to.is_none() {
            let extension = output.map(extension).filter(|it| !it.is_empty());
            let format = extension.map(|extension| {
                OutputFormat::from_str(&extension, true).map_err(|_| {
                    CliError::failed(format!(
                        "cannot write '.{extension}' files; choose a name that ends with .csv, .tsv, \
                         .json or .jsonl, or pass --to"
                    ))
                })
            });
            self.to = format.transpose()?;
        }
        Ok(())
    }
}

impl OutputFormat {
    pub fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonLines)
    }
}

fn extension(file: &Path) -> String {
    file.extension().map(|it| it.to_string_lossy().to_lowercase()).unwrap_or_default()
}
