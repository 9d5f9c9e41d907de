//! The text of the output: the rows of a list with the fields of their numbers.

use std::{borrow::Cow, io, sync::Arc};

use csv::{Terminator, WriterBuilder};
use format::{FormatResult, cells::COLUMNS, fields::Thinned};
use number_lists::{Columns, LineEnds};
use serde::{Serialize, Serializer, ser::SerializeMap};
use shared::cells::inert;

use super::{
    answers::{Answer, Outcome, Reason},
    decoding::BYTE_ORDER_MARK,
    duplicates::WrittenRow,
    fields::{Column, ListFields},
    layout::{Layout, unique},
    options::{Duplicates, ListOptions, OutputForm, RowFilter},
};

/// The column of the line in which a row begins.
const LINE: &str = "line";
/// The column of the line of the row that a number repeats.
const DUPLICATE_OF: &str = "duplicate_of";

/// The output.
pub(super) struct Output {
    pub layout: Arc<Layout>,
    pub form: OutputForm,
    /// Whether it begins with a mark of its encoding.
    pub has_mark: bool,
    pub fields: ListFields,
    pub options: ListOptions,
}

/// A row with its answers.
pub(super) struct AnsweredRow<'a> {
    pub line: u64,
    pub cells: &'a [Cow<'a, str>],
    pub answers: &'a [Answer],
}

/// The text of some rows.
pub(super) struct RowsText<'a> {
    output: &'a Output,
    csv: csv::Writer<Vec<u8>>,
    json: Vec<u8>,
    /// The rows, if numbers may repeat others.
    rows: Vec<WrittenRow>,
    /// The rows, or lines of JSON, that are not wanted.
    left_out: u64,
}

/// A number as a line of JSON.
#[derive(Serialize)]
struct JsonLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The column of the number, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    tn: &'a str,
    /// The columns of the list, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<NamedCells<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(flatten)]
    result: Option<Thinned<'a, FormatResult>>,
}

/// The cells of a row by the names of their columns.
struct NamedCells<'a> {
    names: &'a [String],
    cells: &'a [Cow<'a, str>],
}

impl Serialize for NamedCells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for (name, cell) in self.names.iter().zip(self.cells) {
            map.serialize_entry(name, cell)?;
        }
        map.end()
    }
}

impl Output {
    /// A column of the list that the output adds, too, if it has columns: two would have one name.
    pub fn column_that_is_added(&self) -> Option<String> {
        let added = if self.form == OutputForm::Csv { self.added_columns() } else { Vec::new() };
        added.into_iter().find(|name| self.layout.columns.names.contains(name))
    }

    /// The text before all rows.
    pub fn header(&self) -> io::Result<Vec<u8>> {
        if self.form == OutputForm::JsonLines {
            return Ok(Vec::new());
        }
        let mut text = if self.has_mark { BYTE_ORDER_MARK.to_vec() } else { Vec::new() };
        if let Some(dialect) = self.layout.csv.filter(|dialect| dialect.has_separator_line) {
            text.extend_from_slice(&[b"sep=", &[dialect.delimiter][..], self.line_end()].concat());
        }
        let mut csv = self.csv(text);
        let own = self.layout.columns.names.iter().map(|name| self.own_cell(name).into_owned());
        csv.write_record(own.chain(self.added_columns()))?;
        into_bytes(csv)
    }

    pub fn rows(&self) -> RowsText<'_> {
        let csv = self.csv(Vec::new());
        RowsText { output: self, csv, json: Vec::new(), rows: Vec::new(), left_out: 0 }
    }

    /// The columns after those of the list: those of each number, the line of the row, and the lines
    /// that the numbers repeat.
    fn added_columns(&self) -> Vec<String> {
        let starts = self.starts_of_columns();
        let of_number = |start: &String| {
            let columns = self.fields.columns.iter();
            columns.map(|column| format!("{start}{}", column.name())).collect::<Vec<_>>()
        };
        let line = self.fields.has_line.then(|| format!("{}{LINE}", self.options.prefix));
        let repeated = starts.iter().filter(|_| self.marks_duplicates());
        let repeated = repeated.map(|start| format!("{start}{DUPLICATE_OF}"));
        starts.iter().flat_map(of_number).chain(line).chain(repeated).collect()
    }

    /// The start of the names of the columns of each number: the prefix and, if there are several
    /// numbers, the name of the number's own column.
    fn starts_of_columns(&self) -> Vec<String> {
        let prefix = &self.options.prefix;
        match self.layout.names_of_numbers() {
            names if names.len() > 1 => {
                let plain: Vec<String> = names.iter().map(|name| in_one_word(name)).collect();
                unique(&plain).into_iter().map(|name| format!("{prefix}{name}_")).collect()
            }
            _ => vec![prefix.clone()],
        }
    }

    fn marks_duplicates(&self) -> bool {
        self.options.dedupe == Some(Duplicates::Mark)
    }

    fn own_cell<'a>(&self, cell: &'a str) -> Cow<'a, str> {
        if self.options.excel_safe { inert(cell) } else { Cow::Borrowed(cell) }
    }

    fn takes(&self, answers: &[Answer]) -> bool {
        let is_valid = answers.iter().any(|answer| answer.outcome != Outcome::Rejected);
        match self.options.only {
            None => true,
            Some(RowFilter::Valid) => is_valid,
            Some(RowFilter::Rejected) => !is_valid,
        }
    }

    fn line_end(&self) -> &'static [u8] {
        match self.layout.line_ends {
            LineEnds::CrLf => b"\r\n",
            LineEnds::Lf | LineEnds::Cr => b"\n",
        }
    }

    fn csv(&self, text: Vec<u8>) -> csv::Writer<Vec<u8>> {
        let terminator = match self.layout.line_ends {
            LineEnds::CrLf => Terminator::CRLF,
            LineEnds::Lf | LineEnds::Cr => Terminator::Any(b'\n'),
        };
        let delimiter = self.layout.csv.map_or(b',', |dialect| dialect.delimiter);
        WriterBuilder::new().delimiter(delimiter).terminator(terminator).from_writer(text)
    }
}

impl RowsText<'_> {
    /// Adds a row, if it is one of those that are wanted.
    pub fn add(&mut self, row: &AnsweredRow<'_>) -> io::Result<()> {
        match self.output.form {
            OutputForm::Csv if self.output.takes(row.answers) => self.add_csv(row),
            OutputForm::Csv => {
                self.left_out += 1;
                Ok(())
            }
            OutputForm::JsonLines => self.add_json(row),
        }
    }

    /// The text, its rows if numbers may repeat others, and how many rows were left out.
    pub fn finish(self) -> io::Result<(Vec<u8>, Vec<WrittenRow>, u64)> {
        let Self { output: _, csv, mut json, rows, left_out } = self;
        json.append(&mut into_bytes(csv)?);
        Ok((json, rows, left_out))
    }

    fn add_csv(&mut self, row: &AnsweredRow<'_>) -> io::Result<()> {
        let Output { layout, fields, options, .. } = self.output;
        for position in 0..layout.columns.names.len() {
            let cell = row.cells.get(position).map_or("", |cell| cell.as_ref());
            self.csv.write_field(self.output.own_cell(cell).as_bytes())?;
        }
        for answer in row.answers {
            let cells = answer.result.cells();
            for column in &fields.columns {
                self.csv.write_field(answer.cell(*column, &cells))?;
            }
        }
        if fields.has_line {
            self.csv.write_field(row.line.to_string())?;
        }
        if self.output.marks_duplicates() {
            row.answers.iter().try_for_each(|_| self.csv.write_field(""))?;
        }
        self.csv.write_record(None::<&[u8]>)?;
        if options.dedupe.is_some() {
            self.csv.flush()?;
            let end = self.csv.get_ref().len();
            // The last cells are empty: before the end of the line are only the delimiters of those.
            let last = end - self.output.line_end().len();
            let place = |index: usize| (last + index + 1).saturating_sub(row.answers.len());
            let numbers = row.answers.iter().enumerate();
            let numbers = numbers.map(|(index, answer)| (answer.key, place(index))).collect();
            self.rows.push(WrittenRow { line: row.line, end, numbers });
        }
        Ok(())
    }

    fn add_json(&mut self, row: &AnsweredRow<'_>) -> io::Result<()> {
        let Output { layout, fields, options, .. } = self.output;
        let Columns { names, numbers, .. } = &layout.columns;
        for (&position, answer) in numbers.iter().zip(row.answers) {
            if !self.output.takes(std::slice::from_ref(answer)) {
                self.left_out += 1;
                continue;
            }
            let line = JsonLine {
                line: fields.has_line.then_some(row.line),
                column: (numbers.len() > 1).then(|| names[position].as_str()),
                tn: row.cells.get(position).map_or("", |cell| cell.as_ref()),
                row: layout.csv.map(|_| NamedCells { names, cells: row.cells }),
                verdict: fields.has(Column::Verdict).then(|| answer.outcome.name()),
                result: fields
                    .in_json
                    .as_ref()
                    .map(|fields| Thinned { answer: &answer.result, fields: fields.as_ref() }),
            };
            serde_json::to_writer(&mut self.json, &line)?;
            let place = self.json.len() - 1;
            self.json.push(b'\n');
            if options.dedupe.is_some() {
                let (line, end) = (row.line, self.json.len());
                self.rows.push(WrittenRow { line, end, numbers: vec![(answer.key, place)] });
            }
        }
        Ok(())
    }
}

impl Answer {
    /// The cell of a column; `cells` are those of [`COLUMNS`].
    fn cell<'a>(&'a self, column: Column, cells: &'a [Cow<'a, str>; COLUMNS.len()]) -> &'a str {
        match column {
            Column::Field(index) => &cells[index],
            Column::Verdict => self.outcome.name(),
            Column::Reason => self.reason.map_or("", Reason::code),
            Column::Other => self.other.as_deref().unwrap_or_default(),
        }
    }
}

/// The name of a column as a part of another one's, such as `Home_Phone`.
fn in_one_word(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

fn into_bytes(csv: csv::Writer<Vec<u8>>) -> io::Result<Vec<u8>> {
    csv.into_inner().map_err(csv::IntoInnerError::into_error)
}
