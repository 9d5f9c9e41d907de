//! What became of each row of a list, as the text of the output.

use std::{borrow::Cow, io, sync::Arc};

use csv::{Terminator, WriterBuilder};
use format::{FormatResult, cells::COLUMNS};
use formatting::{DefaultCountry, PhoneNumber, Verdict};
use jiff::civil::Date;
use numbering::dataset::Dataset;
use serde::{Serialize, Serializer, ser::SerializeMap};
use shared::cells::inert;

use super::{
    decoding::{BYTE_ORDER_MARK, text_of},
    layout::{Layout, LineEnds},
    reason::Reason,
    rows::Row,
    summary::Summary,
};

/// The columns after those of the list and those of a format result.
const LAST_COLUMNS: [&str; 3] = ["tn_verdict", "tn_reason", "tn_line"];

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputForm {
    Csv,
    JsonLines,
}

/// How a row is answered.
#[derive(Clone)]
pub(super) struct Answers {
    pub layout: Layout,
    pub form: OutputForm,
    /// Whether the output begins with a mark of its encoding.
    pub has_mark: bool,
    pub default_country: DefaultCountry,
    pub dataset: Option<Arc<Dataset>>,
    pub today: Date,
}

/// A part of the output, and what it holds.
pub(super) struct Part {
    pub text: Vec<u8>,
    pub summary: Summary,
}

/// A row as a line of JSON.
#[derive(Serialize)]
struct JsonLine<'a> {
    line: u64,
    tn: &'a str,
    /// The columns of the list, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<NamedCells<'a>>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    result: &'a FormatResult,
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

impl Answers {
    /// A column of the list that the output adds, too, if it has columns: two would have one name.
    pub fn column_that_is_added(&self) -> Option<&str> {
        let is_added = |name: &&String| COLUMNS.iter().chain(&LAST_COLUMNS).any(|it| it == name);
        let columns = match self.form {
            OutputForm::Csv => self.layout.columns.as_slice(),
            OutputForm::JsonLines => &[],
        };
        columns.iter().find(is_added).map(String::as_str)
    }

    /// What stands before all rows.
    ///
    /// # Errors
    /// Returns no error: memory can be written.
    pub fn header(&self) -> io::Result<Vec<u8>> {
        if self.form == OutputForm::JsonLines {
            return Ok(Vec::new());
        }
        let mark = if self.has_mark { BYTE_ORDER_MARK.to_vec() } else { Vec::new() };
        let mut csv = self.csv(mark);
        let own = self.layout.columns.iter().map(|name| inert(name).into_owned());
        let ours = COLUMNS.iter().chain(&LAST_COLUMNS).map(|&name| name.to_owned());
        csv.write_record(own.chain(ours))?;
        into_bytes(csv)
    }

    /// The output for some rows.
    ///
    /// # Errors
    /// Returns no error: memory can be written.
    pub fn part(&self, rows: &[Row]) -> io::Result<Part> {
        let mut summary = Summary::default();
        let mut json = Vec::new();
        let mut csv = self.csv(Vec::new());
        for row in rows {
            let cells: Vec<Cow<'_, str>> = row.cells.iter().map(text_of).collect();
            let (verdict, result) = self.answer(&cells);
            summary.count(verdict, row.line);
            let tn = cells.get(self.layout.number).map_or("", |cell| cell.as_ref());
            let line = Answered { line: row.line, tn, cells: &cells, verdict, result: &result };
            match self.form {
                OutputForm::Csv => self.write_csv(&mut csv, &line)?,
                OutputForm::JsonLines => self.write_json(&mut json, &line)?,
            }
        }
        json.append(&mut into_bytes(csv)?);
        Ok(Part { text: json, summary })
    }

    /// The verdict on a row, and the format result of its number.
    fn answer(&self, cells: &[Cow<'_, str>]) -> (Result<Verdict, Reason>, FormatResult) {
        let read = self.number_and_country(cells);
        let (text, country) = match read {
            Ok(read) => read,
            Err(reason) => {
                return (Err(reason), FormatResult::in_memory("", None, None, self.today));
            }
        };
        let number = PhoneNumber::parse(text, country);
        let verdict = Verdict::of(text, country, number.as_ref());
        let dataset = self.dataset.as_deref();
        (Ok(verdict), FormatResult::in_memory(text, number, dataset, self.today))
    }

    fn number_and_country<'a>(
        &self,
        cells: &'a [Cow<'_, str>],
    ) -> Result<(&'a str, DefaultCountry), Reason> {
        let surplus = cells.get(self.layout.columns.len()..).unwrap_or_default();
        // Some programs end every row with separators.
        if surplus.iter().any(|cell| !cell.is_empty()) {
            return Err(Reason::ShiftedCells);
        }
        let text = cells.get(self.layout.number).ok_or(Reason::NoCell)?;
        let country = self.layout.country.and_then(|column| cells.get(column));
        match country.map(|cell| cell.trim()).filter(|cell| !cell.is_empty()) {
            None => Ok((text, self.default_country)),
            Some(code) => Ok((text, code.parse().map_err(|_| Reason::UnknownCountry)?)),
        }
    }

    fn write_csv(&self, csv: &mut csv::Writer<Vec<u8>>, line: &Answered<'_>) -> io::Result<()> {
        for position in 0..self.layout.columns.len() {
            let cell = line.cells.get(position).map_or("", |cell| cell.as_ref());
            csv.write_field(inert(cell).as_bytes())?;
        }
        for cell in line.result.cells() {
            csv.write_field(cell.as_bytes())?;
        }
        let (verdict, reason) = in_words(line.verdict);
        let reason = reason.map(|reason| reason.to_string()).unwrap_or_default();
        csv.write_field(verdict)?;
        csv.write_field(reason)?;
        csv.write_field(line.line.to_string())?;
        Ok(csv.write_record(None::<&[u8]>)?)
    }

    fn write_json(&self, json: &mut Vec<u8>, answered: &Answered<'_>) -> io::Result<()> {
        let (verdict, reason) = in_words(answered.verdict);
        let &Answered { line, tn, cells, verdict: _, result } = answered;
        let names = &self.layout.columns;
        let row = self.layout.delimiter.map(|_| NamedCells { names, cells });
        let reason = reason.map(|reason| reason.to_string());
        serde_json::to_writer(&mut *json, &JsonLine { line, tn, row, verdict, reason, result })?;
        json.push(b'\n');
        Ok(())
    }

    fn csv(&self, text: Vec<u8>) -> csv::Writer<Vec<u8>> {
        let terminator = match self.layout.line_ends {
            LineEnds::CrLf => Terminator::CRLF,
            LineEnds::Lf | LineEnds::Cr => Terminator::Any(b'\n'),
        };
        let delimiter = self.layout.delimiter.unwrap_or(b',');
        WriterBuilder::new().delimiter(delimiter).terminator(terminator).from_writer(text)
    }
}

/// A row and its answer.
struct Answered<'a> {
    line: u64,
    /// The number as it stands in the list.
    tn: &'a str,
    cells: &'a [Cow<'a, str>],
    verdict: Result<Verdict, Reason>,
    result: &'a FormatResult,
}

/// The verdict in a word, and why a row was rejected.
fn in_words(verdict: Result<Verdict, Reason>) -> (&'static str, Option<Reason>) {
    match verdict {
        Ok(Verdict::Valid) => ("valid", None),
        Ok(Verdict::Repaired) => ("repaired", None),
        Ok(Verdict::Rejected(refusal)) => ("rejected", Some(Reason::Number(refusal))),
        Err(reason) => ("rejected", Some(reason)),
    }
}

fn into_bytes(csv: csv::Writer<Vec<u8>>) -> io::Result<Vec<u8>> {
    csv.into_inner().map_err(csv::IntoInnerError::into_error)
}
