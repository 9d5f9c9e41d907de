//! The output text: a list's rows with the added fields.

use std::{borrow::Cow, io, slice};

use csv::{Terminator, WriterBuilder};
use format::{FormatResult, fields::WithFields};
use formatting::Verdict;
use number_lists::{Columns, LineEndings, Row};
use serde::Serialize;
use serde_json::{Map, Value, json};
use shared::{cells::escape_formula, json::write_json_line};

use super::{
    ListError,
    decoding::BYTE_ORDER_MARK,
    describe::{DescribedNumber, DescribedRow},
    fields::{LINE_NUMBER, ListFields, without_prefix},
    layout::{Layout, make_unique},
    options::{Duplicates, ListOptions, OutputFormat, RowFilter},
};

/// The name of the column with the line of the first occurrence.
const DUPLICATE_OF: &str = "duplicate_of";

pub(super) struct Output<'a> {
    pub layout: &'a Layout,
    pub format: OutputFormat,
    pub has_bom: bool,
    pub fields: ListFields,
    pub options: ListOptions,
}

#[derive(Serialize)]
struct JsonLine<'a> {
    #[serde(rename = "lineNumber", skip_serializing_if = "Option::is_none")]
    line_number: Option<u64>,
    /// The number's column, if the list has several number columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    tn: &'a str,
    /// The columns of the list, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Map<String, Value>>,
    #[serde(flatten)]
    result: Option<WithFields<'a, &'a FormatResult>>,
    #[serde(rename = "duplicateOf", skip_serializing_if = "Option::is_none")]
    duplicate_of: Option<u64>,
}

impl Output<'_> {
    /// Rejects options that the format does not support, and columns that the list already has.
    pub fn check(&self) -> Result<(), ListError> {
        let mut added = self.added_columns().into_iter();
        let problem = match added.find(|name| self.layout.columns.names.contains(name)) {
            _ if self.format.is_json() && self.options.bom => {
                "--bom requires CSV output; pass --to csv".to_owned()
            }
            Some(name) if !self.format.is_json() => {
                format!(
                    "the list already has a column '{name}'; choose another prefix with --prefix"
                )
            }
            _ => return Ok(()),
        };
        Err(ListError::Layout(problem))
    }

    pub fn header(&self) -> io::Result<Vec<u8>> {
        match self.format {
            OutputFormat::Json => return Ok(b"[".to_vec()),
            OutputFormat::JsonLines => return Ok(Vec::new()),
            OutputFormat::Csv | OutputFormat::Tsv => (),
        }
        let mut text = if self.has_bom { BYTE_ORDER_MARK.to_vec() } else { Vec::new() };
        if self.layout.csv.is_some_and(|dialect| dialect.has_separator_line) {
            text.extend_from_slice(&[b"sep=", &[self.delimiter()][..], self.line_end()].concat());
        }
        let mut csv = self.csv_writer(text);
        let own = self.layout.columns.names.iter().map(|name| self.own_cell(name).into_owned());
        csv.write_record(own.chain(self.added_columns()))?;
        into_bytes(csv)
    }

    pub fn footer(&self, has_rows: bool) -> &'static [u8] {
        match (self.format, has_rows) {
            (OutputFormat::Json, true) => b"\n]\n",
            (OutputFormat::Json, false) => b"]\n",
            _ => b"",
        }
    }

    /// Removes unselected rows, or numbers in JSON. Returns how many.
    pub fn retain(
        &self,
        rows: &mut Vec<DescribedRow>,
        is_wanted: impl Fn(&[DescribedNumber]) -> bool,
    ) -> u64 {
        let mut omitted = 0;
        if self.format.is_json() {
            for DescribedRow { numbers, .. } in rows {
                omitted += numbers.len();
                numbers.retain(|number| is_wanted(slice::from_ref(number)));
                omitted -= numbers.len();
            }
        } else {
            omitted = rows.len();
            rows.retain(|row| is_wanted(&row.numbers));
            omitted -= rows.len();
        }
        omitted as u64
    }

    pub fn text(&self, rows: &[DescribedRow]) -> io::Result<Vec<u8>> {
        if self.format.is_json() { self.json_text(rows) } else { self.csv_text(rows) }
    }

    fn csv_text(&self, rows: &[DescribedRow]) -> io::Result<Vec<u8>> {
        let Self { layout, fields, .. } = self;
        let mut csv = self.csv_writer(Vec::new());
        for row in rows {
            let DescribedRow { row: Row { line, .. }, numbers, .. } = row;
            let cells = row.cells();
            for position in 0..layout.columns.names.len() {
                let cell = cells.get(position).map_or("", |cell| cell.as_ref());
                csv.write_field(self.own_cell(cell).as_bytes())?;
            }
            for number in numbers {
                let result = json!(number.result);
                for column in &fields.columns {
                    csv.write_field(column.cell(&result).as_bytes())?;
                }
            }
            if fields.has_line_number {
                csv.write_field(line.to_string())?;
            }
            for number in numbers.iter().filter(|_| self.marks_duplicates()) {
                let line = number.repeated_line.map(|line| line.to_string());
                csv.write_field(line.unwrap_or_default())?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        into_bytes(csv)
    }

    /// The numbers as JSON: each on a line or, in an array, after a comma and a line break.
    fn json_text(&self, rows: &[DescribedRow]) -> io::Result<Vec<u8>> {
        let Self { layout, fields, .. } = self;
        let Columns { names, numbers: positions, .. } = &layout.columns;
        let is_array = self.format == OutputFormat::Json;
        let json_fields = fields.json_fields.as_ref();
        let mut text = Vec::new();
        for row in rows {
            let cells = row.cells();
            for number in &row.numbers {
                let json = JsonLine {
                    line_number: fields.has_line_number.then_some(row.row.line),
                    column: (positions.len() > 1).then(|| names[number.column].as_str()),
                    tn: cells.get(number.column).map_or("", |cell| cell.as_ref()),
                    row: layout.csv.map(|_| named(names, &cells)),
                    result: json_fields.map(|fields| WithFields {
                        value: &number.result,
                        fields: fields.as_ref(),
                    }),
                    duplicate_of: number.repeated_line,
                };
                if is_array {
                    text.extend_from_slice(b",\n");
                }
                write_json_line(&mut text, &json)?;
                if is_array {
                    text.pop();
                }
            }
        }
        Ok(text)
    }

    /// The columns after the list's own: number fields, line number, and the line of the first occurrence.
    fn added_columns(&self) -> Vec<String> {
        let prefixes = self.column_prefixes();
        let number_columns = |prefix: &String| {
            let columns = self.fields.columns.iter();
            columns
                .map(|column| format!("{prefix}{}", without_prefix(&column.name)))
                .collect::<Vec<_>>()
        };
        let line_number =
            self.fields.has_line_number.then(|| format!("{}{LINE_NUMBER}", self.options.prefix));
        let repeated = prefixes.iter().filter(|_| self.marks_duplicates());
        let repeated = repeated.map(|prefix| format!("{prefix}{DUPLICATE_OF}"));
        prefixes.iter().flat_map(number_columns).chain(line_number).chain(repeated).collect()
    }

    /// The prefix of each number's added columns. If there are several numbers, it includes the name of the number's
    /// column.
    fn column_prefixes(&self) -> Vec<String> {
        let prefix = &self.options.prefix;
        match self.layout.number_columns() {
            names if names.len() > 1 => {
                let words: Vec<String> = names.iter().map(|name| join_words(name)).collect();
                make_unique(&words).into_iter().map(|name| format!("{prefix}{name}_")).collect()
            }
            _ => vec![prefix.clone()],
        }
    }

    fn marks_duplicates(&self) -> bool {
        self.options.dedupe == Some(Duplicates::Mark)
    }

    fn own_cell<'a>(&self, cell: &'a str) -> Cow<'a, str> {
        if self.options.excel_safe { escape_formula(cell) } else { Cow::Borrowed(cell) }
    }

    /// Returns `true` if `--only` selects a row with these numbers.
    pub fn selects(&self, numbers: &[DescribedNumber]) -> bool {
        let Some(filter) = self.options.only else { return true };
        let is_rejected = |number: &DescribedNumber| number.outcome == Verdict::Rejected;
        let row = match () {
            () if numbers.iter().any(DescribedNumber::is_valid) => RowFilter::Valid,
            () if numbers.iter().any(is_rejected) => RowFilter::Rejected,
            () => RowFilter::Empty,
        };
        row == filter
    }

    fn delimiter(&self) -> u8 {
        match self.format {
            OutputFormat::Tsv => b'\t',
            _ => self.layout.csv.map_or(b',', |dialect| dialect.delimiter),
        }
    }

    fn line_end(&self) -> &'static [u8] {
        match self.layout.line_endings {
            LineEndings::CrLf => b"\r\n",
            LineEndings::Lf | LineEndings::Cr => b"\n",
        }
    }

    fn csv_writer(&self, text: Vec<u8>) -> csv::Writer<Vec<u8>> {
        let terminator = match self.layout.line_endings {
            LineEndings::CrLf => Terminator::CRLF,
            LineEndings::Lf | LineEndings::Cr => Terminator::Any(b'\n'),
        };
        WriterBuilder::new().delimiter(self.delimiter()).terminator(terminator).from_writer(text)
    }
}

fn named(names: &[String], cells: &[Cow<'_, str>]) -> Map<String, Value> {
    names.iter().cloned().zip(cells.iter().map(|cell| cell.as_ref().into())).collect()
}

/// Joins the words in a column name with underscores, as in `Home_Phone`.
fn join_words(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

fn into_bytes(csv: csv::Writer<Vec<u8>>) -> io::Result<Vec<u8>> {
    csv.into_inner().map_err(csv::IntoInnerError::into_error)
}
