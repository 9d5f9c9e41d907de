//! The options of a list.

use std::path::Path;

use clap::{Args, ValueEnum};
use formatting::DefaultCountry;

use super::fields::ListFields;

/// The input format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListForm {
    /// Columns with a header row
    Csv,
    /// One number per line
    Text,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// The list's columns, followed by the result's
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

/// The treatment of duplicate rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Duplicates {
    /// Mark them with the line they repeat
    Mark,
    /// Drop them if they have no new number
    Drop,
}

#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    /// Output format [default: by the name of --output, else the input format]
    #[arg(long, value_name = "FORM")]
    pub to: Option<OutputForm>,
    /// Input format [default: by the file name or the first row]
    #[arg(long, value_name = "FORM")]
    pub from: Option<ListForm>,
    /// CSV column with the numbers, by name or number, starting at 1 [default: the one whose name
    /// looks like phone numbers]. Repeat it for several columns; added columns are then named like
    /// tn_Home_Phone_e164, and JSON has one line per number
    #[arg(long, value_name = "COLUMN")]
    pub column: Vec<String>,
    /// Fields to add, comma-separated, by API path or column name, such as
    /// valid,e164,carrier.name,verdict,line [default: all]
    #[arg(long, value_name = "FIELDS")]
    pub fields: Option<ListFields>,
    /// Prefix of the columns added to a CSV
    #[arg(long, value_name = "TEXT", default_value = "tn_")]
    pub prefix: String,
    /// Rows to write; a row is valid if any of its numbers is
    #[arg(long, value_name = "ROWS")]
    pub only: Option<RowFilter>,
    /// Detect valid numbers that repeat an earlier one, by E.164 and extension. Marks them in
    /// tn_duplicate_of with the line they repeat; --dedupe=drop drops such rows. Uses up to 80 MB
    /// of memory per million distinct numbers
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mark"
    )]
    pub dedupe: Option<Duplicates>,
    /// Also put an apostrophe before the list's own cells that a spreadsheet would treat as
    /// formulas; added cells always have it
    #[arg(long)]
    pub excel_safe: bool,
    /// The CSV has no header row
    #[arg(long)]
    pub no_header: bool,
    /// Country of numbers without a country code, as ISO 3166-1 alpha-2 [default: US]
    #[arg(long, value_name = "CODE")]
    pub country: Option<DefaultCountry>,
    /// CSV column with the country of each number; empty cells use --country [default: the column
    /// named defaultCountry]
    #[arg(long, value_name = "COLUMN")]
    pub country_column: Option<String>,
}

impl ListOptions {
    /// Infers missing formats from the file names and from options that only apply to CSV.
    pub fn guess_forms(&mut self, list: Option<&Path>, output: Option<&Path>) {
        let by_name = |file: &Path| match extension(file).as_str() {
            "csv" | "tsv" => Some(ListForm::Csv),
            "txt" => Some(ListForm::Text),
            _ => None,
        };
        let has_columns =
            !self.column.is_empty() || self.country_column.is_some() || self.no_header;
        let by_options = has_columns.then_some(ListForm::Csv);
        self.from = self.from.or(by_options).or_else(|| list.and_then(by_name));
        let output_by_name = |file: &Path| match extension(file).as_str() {
            "csv" | "tsv" => Some(OutputForm::Csv),
            "jsonl" | "ndjson" => Some(OutputForm::JsonLines),
            _ => None,
        };
        self.to = self.to.or_else(|| output.and_then(output_by_name));
    }
}

fn extension(file: &Path) -> String {
    file.extension().map(|it| it.to_string_lossy().to_lowercase()).unwrap_or_default()
}
