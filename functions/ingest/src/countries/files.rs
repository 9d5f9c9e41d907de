//! A country's files as tables: their names, encodings, and delimited text or OData.

use std::collections::BTreeMap;

use csv::{Position, ReaderBuilder, StringRecord};
use encoding_rs::Encoding;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    error::{Cause, ReportError},
    table::{MAX_CELL_LENGTH, is_same_name},
};

/// A file with its name and content.
pub(super) type NamedFile = (String, Vec<u8>);

/// Compares a file's name, without its folders, with the start of a name in any case. `s1` is not the start of `S10`.
pub(super) fn is_named(file: &str, start: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let ends_with_digit = start.ends_with(|last: char| last.is_ascii_digit());
    name.strip_prefix(&start.to_lowercase()).is_some_and(|rest| {
        !(ends_with_digit && rest.starts_with(|next: char| next.is_ascii_digit()))
    })
}

/// Decodes a file. Converts OData to delimited text.
pub(super) fn decode(file: &str, encoding: &str, bytes: &[u8]) -> Result<String, ReportError> {
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    let (text, encoding, has_errors) = encoding.decode(bytes);
    if has_errors {
        return Err(ReportError::new(format!("{file} is not valid {}", encoding.name())));
    }
    if !text.starts_with('{') {
        return Ok(text.into_owned());
    }
    odata_as_csv(&text).map_err(|error| ReportError::new(format!("{file}: {error}")))
}

/// Splits text into rows at the first of the delimiters that the first line contains. Rejects long cells and line breaks
/// in cells, since an unclosed quote swallows the rows after it.
pub(super) fn csv_records(
    file: &str,
    delimiters: &str,
    text: &str,
) -> impl Iterator<Item = Result<StringRecord, ReportError>> {
    let first_line = text.lines().next().unwrap_or_default();
    let delimiter = delimiters.bytes().find(|it| first_line.as_bytes().contains(it));
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter.unwrap_or(b','));
    builder.from_reader(text.as_bytes()).into_records().map(move |record| {
        let record = record.map_err(|error| {
            ReportError::new(format!("{file} cannot be split into rows: {error}"))
        })?;
        let is_swallowed = |cell: &str| cell.len() > MAX_CELL_LENGTH || cell.contains('\n');
        if !record.iter().any(is_swallowed) {
            return Ok(record);
        }
        let line = record.position().map_or(0, Position::line);
        Err(ReportError::new(format!(
            "{file}, line {line}: a quote is not closed, or a cell has more than {MAX_CELL_LENGTH} bytes"
        )))
    })
}

/// The position of a column in a header row, by the first of its names that is there.
pub(super) fn position(header: &StringRecord, column: &str) -> Option<usize> {
    column.split('|').find_map(|name| header.iter().position(|cell| is_same_name(name, cell)))
}

/// A page of records in OData's JSON.
#[derive(Deserialize)]
struct ODataPage {
    value: Vec<BTreeMap<String, Value>>,
    #[serde(rename = "@odata.nextLink")]
    next: Option<String>,
}

/// Converts OData's JSON to CSV with a header. Rejects a page that is not the last one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_an_unclosed_quote_swallowed_are_an_error() {
        for (text, is_read) in [
            ("a,b\n1,\"x\"\n2,y\n".to_owned(), true),
            ("a,b\n1,\"x\n2,y\n".to_owned(), false),
            (format!("a,b\n1,{}\n", "x".repeat(MAX_CELL_LENGTH)), true),
            (format!("a,b\n1,{}\n", "x".repeat(MAX_CELL_LENGTH + 1)), false),
        ] {
            let mut records = csv_records("s7.csv", ",", &text);
            assert_eq!(records.all(|record| record.is_ok()), is_read, "{text}");
        }
    }

    #[test]
    fn names_start_with_the_described_name() {
        for (file, expected) in [
            ("S1.csv", true),
            ("folder/s1 (1).CSV", true),
            ("S10 notes.csv", false),
            ("folder/x.s1.csv", false),
            ("s1/notes.csv", false),
        ] {
            assert_eq!(is_named(file, "s1"), expected, "{file}");
        }
    }

    #[test]
    fn odata_becomes_csv_unless_it_has_more_pages() {
        let page = |more| format!(r#"{{"value": [{{"a": 1, "b": null, "c": "x, y"}}]{more}}}"#);
        assert_eq!(odata_as_csv(&page("")).unwrap(), "a,b,c\n1,,\"x, y\"\n");
        let error = odata_as_csv(&page(r#", "@odata.nextLink": "x""#)).unwrap_err();
        assert_eq!(error.to_string(), "it is the first of several pages");
    }
}
