//! The output text: a list's rows with their numbers' fields.

use std::{borrow::Cow, io};

use csv::{Terminator, WriterBuilder};
use format::{FormatResult, fields::Thinned};
use number_lists::{Columns, LineEnds};
use serde::{Serialize, Serializer};
use shared::cells::inert;

use super::{
    answer::{Answer, AnsweredRow, Outcome},
    decoding::BYTE_ORDER_MARK,
    duplicates::WrittenRow,
    fields::ListFields,
    layout::{Layout, unique},
    options::{Duplicates, ListOptions, OutputForm, RowFilter},
    summary::Summary,
};

/// The column with the line where a row begins.
const LINE: &str = "line";
/// The column with the line that a number repeats.
const DUPLICATE_OF: &str = "duplicate_of";

pub(super) struct Output<'a> {
    pub layout: &'a Layout,
    pub form: OutputForm,
    /// `true` if it begins with a byte order mark.
    pub has_mark: bool,
    pub fields: ListFields,
    pub options: ListOptions,
}

/// A part of the output.
#[derive(Default)]
pub(super) struct Part {
    pub text: Vec<u8>,
    /// The rows, if duplicates are detected.
    pub rows: Vec<WrittenRow>,
    pub summary: Summary,
}

/// A number as a line of JSON.
#[derive(Serialize)]
struct JsonLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The number's column, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    tn: &'a str,
    /// The list's columns, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<NamedCells<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(flatten)]
    result: Option<Thinned<'a, FormatResult>>,
}

/// The cells of a row by column name.
struct NamedCells<'a> {
    names: &'a [String],
    cells: &'a [Cow<'a, str>],
}

impl Serialize for NamedCells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(self.cells))
    }
}

impl Output<'_> {
    /// A list column whose name the output would add again, if any.
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

    /// The text of the selected rows.
    pub fn part<'r>(&self, rows: impl Iterator<Item = AnsweredRow<'r>>) -> io::Result<Part> {
        match self.form {
            OutputForm::Csv => self.csv_part(rows),
            OutputForm::JsonLines => self.json_part(rows),
        }
    }

    fn csv_part<'r>(&self, rows: impl Iterator<Item = AnsweredRow<'r>>) -> io::Result<Part> {
        let Self { layout, fields, options, .. } = self;
        let mut part = Part::default();
        let mut csv = self.csv(Vec::new());
        for AnsweredRow { line, cells, answers } in rows {
            part.summary.count_row(line, &answers);
            if !self.takes(&answers) {
                part.summary.left_out += 1;
                continue;
            }
            for position in 0..layout.columns.names.len() {
                let cell = cells.get(position).map_or("", |cell| cell.as_ref());
                csv.write_field(self.own_cell(cell).as_bytes())?;
            }
            for answer in &answers {
                for column in &fields.columns {
                    csv.write_field(column.cell(answer).as_bytes())?;
                }
            }
            if fields.has_line {
                csv.write_field(line.to_string())?;
            }
            if self.marks_duplicates() {
                answers.iter().try_for_each(|_| csv.write_field(""))?;
            }
            csv.write_record(None::<&[u8]>)?;
            if options.dedupe.is_some() {
                csv.flush()?;
                let end = csv.get_ref().len();
                // The last cells are empty, so only their delimiters precede the line end.
                let last = end - self.line_end().len();
                let place = |index: usize| (last + index + 1).saturating_sub(answers.len());
                let numbers = answers.iter().enumerate();
                let numbers = numbers.map(|(index, answer)| (answer.key, place(index))).collect();
                part.rows.push(WrittenRow { line, end, numbers });
            }
        }
        part.text = into_bytes(csv)?;
        Ok(part)
    }

    fn json_part<'r>(&self, rows: impl Iterator<Item = AnsweredRow<'r>>) -> io::Result<Part> {
        let Self { layout, fields, options, .. } = self;
        let Columns { names, numbers, .. } = &layout.columns;
        let mut part = Part::default();
        for AnsweredRow { line, cells, answers } in rows {
            part.summary.count_row(line, &answers);
            for (&position, answer) in numbers.iter().zip(&answers) {
                if !self.takes(std::slice::from_ref(answer)) {
                    part.summary.left_out += 1;
                    continue;
                }
                let json = JsonLine {
                    line: fields.has_line.then_some(line),
                    column: (numbers.len() > 1).then(|| names[position].as_str()),
                    tn: cells.get(position).map_or("", |cell| cell.as_ref()),
                    row: layout.csv.map(|_| NamedCells { names, cells: &cells }),
                    verdict: fields.has_verdict().then(|| answer.outcome.name()),
                    result: fields
                        .in_json
                        .as_ref()
                        .map(|fields| Thinned { answer: &answer.result, fields: fields.as_ref() }),
                };
                serde_json::to_writer(&mut part.text, &json)?;
                let place = part.text.len() - 1;
                part.text.push(b'\n');
                if options.dedupe.is_some() {
                    let numbers = vec![(answer.key, place)];
                    part.rows.push(WrittenRow { line, end: part.text.len(), numbers });
                }
            }
        }
        Ok(part)
    }

    /// The columns after the list's own: number fields, line, and repeated lines.
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

    /// The prefixes of each number's columns, which include the number's own column name if there
    /// are several.
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

/// A column name as part of another, such as `Home_Phone`.
fn in_one_word(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

fn into_bytes(csv: csv::Writer<Vec<u8>>) -> io::Result<Vec<u8>> {
    csv.into_inner().map_err(csv::IntoInnerError::into_error)
}
