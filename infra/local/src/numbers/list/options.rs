//! The options of a list, as they are typed.

use std::path::Path;

use clap::{Args, ValueEnum};
use formatting::DefaultCountry;

use super::fields::ListFields;

/// The form in which a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListForm {
    /// Columns with a header
    Csv,
    /// A number in each line
    Text,
}

/// The form in which numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// The columns of the list, and those of the result after them
    Csv,
    /// A JSON object in each line
    #[value(name = "jsonl")]
    JsonLines,
}

/// The rows that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFilter {
    /// Those with a valid number, including repaired ones
    Valid,
    /// Those without
    Rejected,
}

/// The treatment of rows that repeat a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Duplicates {
    /// They say which line they repeat
    Mark,
    /// They are left out if they have no new number
    Drop,
}

#[derive(Debug, Clone, Args)]
pub struct ListOptions {
    /// The form of the output; by default that of --output by its name, or else that of the list
    #[arg(long, value_name = "FORM")]
    pub to: Option<OutputForm>,
    /// The form of the list, if neither its name nor its first row tells it
    #[arg(long, value_name = "FORM")]
    pub from: Option<ListForm>,
    /// Column of the numbers in a CSV, by its name or its number from 1 on; by default the one whose name
    /// looks like phone numbers. Repeat it for several columns: the added ones are then named like
    /// tn_Home_Phone_e164, and JSON has a line for each number
    #[arg(long, value_name = "COLUMN")]
    pub column: Vec<String>,
    /// Fields to add, comma-separated, by their names in the API or their columns, such as
    /// valid,e164,carrier.name; verdict and line are fields, too. All by default
    #[arg(long, value_name = "FIELDS")]
    pub fields: Option<ListFields>,
    /// Prefix of the columns that are added to a CSV
    #[arg(long, value_name = "TEXT", default_value = "tn_")]
    pub prefix: String,
    /// Rows to write; a row with several numbers is valid if one of them is
    #[arg(long, value_name = "ROWS")]
    pub only: Option<RowFilter>,
    /// Find valid numbers that repeat an earlier one, by E.164 and extension: mark them in tn_duplicate_of
    /// with the line they repeat, or drop such rows with --dedupe=drop. Uses up to 80 MB of memory for a
    /// million different numbers
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mark"
    )]
    pub dedupe: Option<Duplicates>,
    /// Put an apostrophe before the list's own cells that a spreadsheet would take for formulas; the added
    /// cells always have it
    #[arg(long)]
    pub excel_safe: bool,
    /// The CSV has no header row
    #[arg(long)]
    pub no_header: bool,
    /// ISO 3166-1 alpha-2 code of the country of a number without a country code; US if left out
    #[arg(long, value_name = "CODE")]
    pub country: Option<DefaultCountry>,
    /// The column of a CSV that has such a code for each number; by default the one named
    /// defaultCountry. Where it is empty, --country counts
    #[arg(long, value_name = "COLUMN")]
    pub country_column: Option<String>,
}

impl ListOptions {
    /// Takes the forms that are not typed from the names of the files, and from options that only a CSV has.
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
