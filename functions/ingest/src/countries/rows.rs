//! Reads the rows of a country's files as ranges.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
};

use csv::{Reader, ReaderBuilder, StringRecord};
use encoding_rs::Encoding;
use jiff::civil::Date;
use numbering::ranges::{NationalNumber, Range, RangeFacts, RangeUse};
use serde::Deserialize;
use serde_json::Value;

use super::description::{Description, Layout, NamesDescription};
use crate::{
    error::{Cause, ReportError},
    notes::Warning,
    table::{MAX_CELL_LENGTH, excerpt, is_invisible, is_same_name, non_empty},
};

const MAX_EXCERPT_LENGTH: usize = 40;
/// The precedence of rows with an unknown status: any other row wins.
const LAST: usize = usize::MAX;

/// A published range. Of two rows about the same numbers, the one with the lower precedence value wins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PublishedRange {
    pub range: Range,
    pub precedence: usize,
}

/// The rows of a country's files, and the findings about them.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub ranges: Vec<PublishedRange>,
    /// The first digits of the numbers that the files are about.
    pub covered: Vec<String>,
    pub count: u32,
    pub skipped: BTreeMap<String, u32>,
    /// The number of unknown values by column.
    pub unknown_values: BTreeMap<String, u32>,
    pub warnings: BTreeMap<String, Warning>,
}

/// A file with its name and content.
pub(super) type NamedFile = (String, Vec<u8>);

impl Rows {
    /// Reads the files that the description names, and ignores others.
    pub fn read(description: &Description, files: &[NamedFile]) -> Result<Self, ReportError> {
        let mut rows = Self::default();
        let names = match &description.names {
            Some(names) => read_names(names, files)?,
            None => HashMap::new(),
        };
        for file in &description.files {
            let Some(layout) = description.layout(file) else { continue };
            for (name, bytes) in files.iter().filter(|(name, _)| is_named(name, &file.name)) {
                let table = Table::new(name, layout, description, &names);
                table.read(bytes, &mut rows)?;
                rows.covered.extend(file.covers.iter().cloned());
            }
        }
        if rows.ranges.is_empty() {
            let expected: Vec<_> =
                description.files.iter().map(|file| file.name.as_str()).collect();
            let found: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
            return Err(ReportError::new(format!(
                "no usable rows: expected files whose names start with {}, found {}",
                expected.join(", "),
                excerpt(&found.join(", "), MAX_CELL_LENGTH)
            )));
        }
        Ok(rows)
    }

    pub fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }

    fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }
}

/// Compares a file's name, without its folders, with the start of a name in any case.
fn is_named(file: &str, start: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    name.to_lowercase().starts_with(&start.to_lowercase())
}

fn decode(file: &str, encoding: &str, bytes: &[u8]) -> Result<String, ReportError> {
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    let (text, encoding, has_errors) = encoding.decode(bytes);
    if has_errors {
        return Err(ReportError::new(format!("{file} is not valid {}", encoding.name())));
    }
    Ok(text.into_owned())
}

/// Splits at the first of the delimiters that the first line contains.
fn csv_reader<'a>(delimiters: &str, text: &'a str) -> Reader<&'a [u8]> {
    let first_line = text.lines().next().unwrap_or_default();
    let delimiter = delimiters.bytes().find(|it| first_line.as_bytes().contains(it));
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter.unwrap_or(b','));
    builder.from_reader(text.as_bytes())
}

/// A page of records in OData's JSON.
#[derive(Deserialize)]
struct ODataPage {
    value: Vec<BTreeMap<String, Value>>,
    #[serde(rename = "@odata.nextLink")]
    next: Option<String>,
}

/// Converts OData's JSON to CSV with a header. Rejects a page that another one follows.
fn odata_as_csv(text: &str) -> Result<String, Cause> {
    let ODataPage { value: records, next } = serde_json::from_str(text)?;
    if next.is_some() {
        return Err("it is the first of several pages".into());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(record) = records.first() {
        writer.write_record(record.keys())?;
    }
    for record in &records {
        let cells = record.values().map(|value| match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        });
        writer.write_record(cells)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Reads the names behind the codes in the holder column.
fn read_names(
    NamesDescription { file, delimiter, encoding, code, name }: &NamesDescription,
    files: &[NamedFile],
) -> Result<HashMap<String, String>, ReportError> {
    let mut names = HashMap::new();
    for (file, bytes) in files.iter().filter(|(found, _)| is_named(found, file)) {
        let text = decode(file, encoding, bytes)?;
        let mut reader = csv_reader(delimiter, &text);
        let mut records = reader.records();
        let header = next_record(file, &mut records)?.unwrap_or_default();
        let [code, name] = [code, name].map(|column| position(&header, column));
        let (Some(code), Some(name)) = (code, name) else {
            return Err(ReportError::new(format!("{file} lacks a column with codes or names")));
        };
        while let Some(record) = next_record(file, &mut records)? {
            if let (Some(code), Some(name)) = (record.get(code), record.get(name)) {
                names.insert(code.trim().to_owned(), name.trim().to_owned());
            }
        }
    }
    Ok(names)
}

fn next_record(
    file: &str,
    records: &mut csv::StringRecordsIter<'_, &[u8]>,
) -> Result<Option<StringRecord>, ReportError> {
    let record = records.next().transpose();
    record.map_err(|error| ReportError::new(format!("{file} cannot be split into rows: {error}")))
}

/// The position of a column in a header row, by the first of its names that is there.
fn position(header: &StringRecord, column: &str) -> Option<usize> {
    column.split('|').find_map(|name| header.iter().position(|cell| is_same_name(name, cell)))
}

/// A file's table.
struct Table<'a> {
    file: &'a str,
    layout: &'a Layout,
    meanings: HashMap<String, (RangeUse, usize)>,
    /// Holders by code; empty if the holder column has names.
    names: &'a HashMap<String, String>,
}

/// The positions of the columns that the layout names.
struct Columns {
    block: Vec<usize>,
    from: Vec<usize>,
    to: Vec<usize>,
    holder: usize,
    status: Option<usize>,
    date: Option<usize>,
    place: Option<usize>,
    length: Option<usize>,
}

/// The first and the last number of a range.
type Bounds = (NationalNumber, NationalNumber);

/// A row, with its line for messages.
struct Row<'a> {
    table: &'a Table<'a>,
    record: &'a StringRecord,
    line: u64,
}

impl<'a> Table<'a> {
    fn new(
        file: &'a str,
        layout: &'a Layout,
        description: &Description,
        names: &'a HashMap<String, String>,
    ) -> Self {
        Self { file, layout, meanings: description.statuses.meanings(), names }
    }

    fn read(&self, bytes: &[u8], rows: &mut Rows) -> Result<(), ReportError> {
        let mut text = decode(self.file, &self.layout.encoding, bytes)?;
        if text.starts_with('{') {
            text = odata_as_csv(&text)
                .map_err(|error| ReportError::new(format!("{}: {error}", self.file)))?;
        }
        let mut reader = csv_reader(&self.layout.delimiter, &text);
        let mut records = reader.records();
        let has_header = self.layout.has_header;
        let header = if has_header { next_record(self.file, &mut records)? } else { None };
        let columns = self.columns(header.as_ref())?;
        header.iter().for_each(|header| self.warn_about_unknown_columns(header, rows));
        while let Some(record) = next_record(self.file, &mut records)? {
            let line = record.position().map_or(0, csv::Position::line);
            rows.count += 1;
            Row { table: self, record: &record, line }.read(&columns, rows)?;
        }
        Ok(())
    }

    fn columns(&self, header: Option<&StringRecord>) -> Result<Columns, ReportError> {
        let layout = self.layout;
        let column = |name: &String| {
            let found = match header {
                Some(header) => position(header, name),
                None => name.parse().ok().and_then(|position: usize| position.checked_sub(1)),
            };
            found.ok_or_else(|| ReportError::new(format!("{} lacks the column {name}", self.file)))
        };
        let columns =
            |names: &[String]| names.iter().map(column).collect::<Result<Vec<usize>, _>>();
        let optional = |name: &Option<String>| name.as_ref().map(column).transpose();
        Ok(Columns {
            block: columns(&layout.block)?,
            from: columns(&layout.from)?,
            to: columns(&layout.to)?,
            holder: column(&layout.holder)?,
            status: optional(&layout.status)?,
            date: optional(&layout.date)?,
            place: optional(&layout.place)?,
            length: optional(&layout.length)?,
        })
    }

    fn warn_about_unknown_columns(&self, header: &StringRecord, rows: &mut Rows) {
        let Layout { block, from, to, holder, status, date, place, length, unused, .. } =
            self.layout;
        let optional = [status, date, place, length].into_iter().flatten();
        let known =
            block.iter().chain(from).chain(to).chain([holder]).chain(optional).chain(unused);
        let known: Vec<&str> = known.flat_map(|column| column.split('|')).collect();
        for name in header.iter().filter(|name| !known.iter().any(|it| is_same_name(it, name))) {
            let kind = format!("{}: a column is unknown and is ignored", self.file);
            rows.warn(kind, format!("'{}'", excerpt(name, MAX_EXCERPT_LENGTH)));
        }
    }
}

impl Row<'_> {
    fn read(&self, columns: &Columns, rows: &mut Rows) -> Result<(), ReportError> {
        let layout = self.table.layout;
        let (status, continuation) = match columns.status {
            None => (None, ""),
            Some(column) => self.status(column)?,
        };
        let (range_use, precedence) = match status {
            None => (RangeUse::Assigned, 0),
            Some(word) => {
                let known = self.table.meanings.get(&word.to_lowercase()).copied();
                known.unwrap_or_else(|| {
                    self.warn(
                        rows,
                        layout.status.as_deref(),
                        word,
                        "is unknown; such ranges are reserved",
                    );
                    (RangeUse::Reserved, LAST)
                })
            }
        };
        let facts = RangeFacts {
            range_use,
            status: status.map(str::to_owned),
            holder: self.holder(columns.holder, rows)?,
            effective_from: self.date(columns.date, rows)?,
            place: columns
                .place
                .map(|column| self.text(column))
                .transpose()?
                .flatten()
                .map(str::to_owned),
        };
        let Some(ranges) = self.ranges(columns, continuation)? else {
            rows.skip("short numbers");
            return Ok(());
        };
        let is_valid = |range: &Option<Bounds>| {
            range.is_some_and(|(from, to)| from <= to && from.has_as_many_digits_as(to))
        };
        if ranges.is_empty() || !ranges.iter().all(is_valid) {
            rows.skip("rows without a valid range");
            rows.warn(
                format!("{}: a range is invalid and is skipped", self.table.file),
                format!("line {}", self.line),
            );
            return Ok(());
        }
        for (from, to) in ranges.into_iter().flatten() {
            let range = Range { from, to, facts: facts.clone() };
            rows.ranges.push(PublishedRange { range, precedence });
        }
        Ok(())
    }

    /// The ranges of a row, of which an invalid one is `None`; `None` for short numbers.
    fn ranges(
        &self,
        columns: &Columns,
        continuation: &str,
    ) -> Result<Option<Vec<Option<Bounds>>>, ReportError> {
        let layout = self.table.layout;
        let national = |digits| str::strip_prefix(digits, &layout.trunk_prefix);
        if layout.block.is_empty() {
            let [from, to] = self.bounds(columns)?;
            let (Some(from), Some(to)) = (national(&from), national(&to)) else { return Ok(None) };
            let has_length = layout.lengths.is_empty() || layout.lengths.contains(&from.len());
            return Ok(has_length.then(|| vec![from.parse().ok().zip(to.parse().ok())]));
        }
        let digits = self.digits(&columns.block)? + continuation;
        let Some(prefix) = national(&digits) else { return Ok(None) };
        // A blank block would stand for every number.
        if prefix.is_empty() {
            return Ok(Some(vec![None]));
        }
        let lengths = match columns.length {
            None => layout.lengths.clone(),
            Some(column) => lengths(self.cell(column)?),
        };
        let block = |&length: &usize| NationalNumber::block(prefix, length);
        Ok(Some(lengths.iter().map(block).collect()))
    }

    /// The text of a cell. Rejects what cannot be a name, as in the other reports.
    fn cell(&self, column: usize) -> Result<&str, ReportError> {
        let cell = self.record.get(column).unwrap_or_default().trim();
        let rule = if cell.len() > MAX_CELL_LENGTH {
            format!("must have at most {MAX_CELL_LENGTH} bytes")
        } else if let Some(invisible) = cell.chars().find(|&character| is_invisible(character)) {
            format!("contains the invisible character U+{:04X}", u32::from(invisible))
        } else {
            return Ok(cell);
        };
        Err(ReportError::new(format!(
            "{}, line {}, cell {}: {rule}",
            self.table.file,
            self.line,
            column + 1
        )))
    }

    /// The text of a cell, unless it is a placeholder such as `-`.
    fn text(&self, column: usize) -> Result<Option<&str>, ReportError> {
        Ok(Some(self.cell(column)?).filter(|text| text.contains(char::is_alphanumeric)))
    }

    /// The cells of some columns without blanks and hyphens.
    fn digits(&self, columns: &[usize]) -> Result<String, ReportError> {
        let cells = columns.iter().map(|&column| self.cell(column));
        let text = cells.collect::<Result<String, _>>()?;
        Ok(text.split(|it: char| it.is_whitespace() || it == '-').collect())
    }

    /// The first and the last number, which may share a cell. A cell without the separator has a single number.
    fn bounds(&self, columns: &Columns) -> Result<[String; 2], ReportError> {
        let [from, to] = [self.digits(&columns.from)?, self.digits(&columns.to)?];
        let separator = self.table.layout.separator.as_deref();
        let split = separator.and_then(|separator| from.split_once(separator));
        Ok(split.map_or([from.clone(), to], |(from, to)| [from, to].map(str::to_owned)))
    }

    /// The status, and the digits after it if they continue the block. Without a status, a row is assigned.
    fn status(&self, column: usize) -> Result<(Option<&str>, &str), ReportError> {
        let cell = self.cell(column)?;
        let continues_block = self.table.layout.status_continues_block;
        let is_digit = |character: char| continues_block && character.is_ascii_digit();
        let word = cell.trim_end_matches(is_digit);
        Ok((Some(word.trim()), &cell[word.len()..]))
    }

    fn holder(&self, column: usize, rows: &mut Rows) -> Result<Option<String>, ReportError> {
        let Some(holder) = self.text(column)? else { return Ok(None) };
        if self.table.names.is_empty() {
            return Ok(Some(holder.to_owned()));
        }
        let name = self.table.names.get(holder);
        if name.is_none() {
            self.warn(
                rows,
                Some(&self.table.layout.holder),
                holder,
                "has no name; the code is used",
            );
        }
        Ok(Some(name.cloned().unwrap_or_else(|| holder.to_owned())))
    }

    fn date(&self, column: Option<usize>, rows: &mut Rows) -> Result<Option<Date>, ReportError> {
        let Some(column) = column else { return Ok(None) };
        let cell = self.cell(column)?;
        // A time of day may follow the date.
        let Some(day) = cell.split([' ', 'T']).next().and_then(non_empty) else { return Ok(None) };
        let layout = self.table.layout;
        let mut formats = layout.date_format.split('|');
        let date = formats.find_map(|format| Date::strptime(format, day).ok());
        if date.is_none() {
            self.warn(rows, layout.date.as_deref(), cell, "is not a date and is ignored");
        }
        Ok(date)
    }

    /// Warns about an unknown value. `consequence` says how it is treated.
    fn warn(&self, rows: &mut Rows, column: Option<&str>, value: &str, consequence: &str) {
        let column = column.unwrap_or_default().split('|').next().unwrap_or_default();
        let (value, line) = (excerpt(value, MAX_EXCERPT_LENGTH), self.line);
        *rows.unknown_values.entry(column.to_owned()).or_default() += 1;
        rows.warn(
            format!("{}: {column} {consequence}", self.table.file),
            format!("'{value}' on line {line}"),
        );
    }
}

/// The numbers of digits in text such as `10 digit numbers`, `2+8` (area code and local number) or
/// `Mixed 4+5 & 4+6`.
fn lengths(text: &str) -> Vec<usize> {
    let sum = |plan: &str| -> usize {
        let parts = plan.split(|it: char| !it.is_ascii_digit());
        parts.filter_map(|it| it.parse::<u8>().ok()).map(usize::from).sum()
    };
    text.split('&').map(sum).filter(|&length| length > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odata_becomes_csv_unless_it_has_more_pages() {
        let page = |more| format!(r#"{{"value": [{{"a": 1, "b": null, "c": "x, y"}}]{more}}}"#);
        assert_eq!(odata_as_csv(&page("")).unwrap(), "a,b,c\n1,,\"x, y\"\n");
        let error = odata_as_csv(&page(r#", "@odata.nextLink": "x""#)).unwrap_err();
        assert_eq!(error.to_string(), "it is the first of several pages");
    }
}
