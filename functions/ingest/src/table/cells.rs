//! Delimited text line by line, and its cells: decoded, or escaped for messages.

use std::borrow::Cow;

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use encoding_rs::WINDOWS_1252;
use icu_properties::{
    CodePointMapData, CodePointSetData,
    props::{DefaultIgnorableCodePoint, GeneralCategory},
};
use jiff::civil::Date;

use super::MAX_CELL_LENGTH;
use crate::error::ReportError;

/// Parses `09/04/2026`, `9/4/26` or `2026-09-04`. Two-digit years up to 68 are in the 2000s.
pub(crate) fn date(text: &str) -> Option<Date> {
    // A time of day may follow the date.
    let day = text.split([' ', 'T']).next()?;
    let format = match day.rsplit_once('/') {
        Some((_, year)) if year.len() == 2 => "%m/%d/%y",
        Some(_) => "%m/%d/%Y",
        None => "%Y-%m-%d",
    };
    Date::strptime(format, day).ok()
}

/// Decodes a cell from UTF-8, or from Windows-1252 if it is not UTF-8. Removes padding and quotes.
pub(super) fn decode_cell(cell: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(cell) {
        Ok(text) => Cow::Borrowed(without_padding_and_quotes(text)),
        Err(_) => {
            let text = WINDOWS_1252.decode_without_bom_handling(cell).0;
            Cow::Owned(without_padding_and_quotes(&text).to_owned())
        }
    }
}

fn without_padding_and_quotes(cell: &str) -> &str {
    let padded = cell.trim();
    let quoted = padded.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    quoted.unwrap_or(padded).trim()
}

pub(crate) fn non_empty(cell: &str) -> Option<&str> {
    Some(cell).filter(|cell| !cell.is_empty())
}

/// Rejects cells that are too long or contain invisible characters, which can control terminals or hide text. The error
/// states the rule.
pub(crate) fn check_cell(cell: &str) -> Result<(), String> {
    if cell.len() > MAX_CELL_LENGTH {
        return Err(format!("must have at most {MAX_CELL_LENGTH} bytes"));
    }
    let Some(invisible) = cell.chars().find(|&character| is_invisible(character)) else {
        return Ok(());
    };
    Err(format!("contains the invisible character U+{:04X}", u32::from(invisible)))
}

/// Returns `false` for letters, marks, digits, symbols and spaces. Format characters include byte order marks,
/// zero-width spaces, tags and direction marks. Ignorable characters, such as variation selectors and fillers, can hide
/// instructions that people do not see, but a language model follows.
fn is_invisible(character: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Unassigned,
    };
    !matches!(character, ' '..='~')
        && (matches!(
            CodePointMapData::<GeneralCategory>::new().get(character),
            Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Unassigned
        ) || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
            // The blank braille pattern counts as a symbol.
            || character == '\u{2800}')
}

/// Returns the first `max` characters of `text` for a message, with control characters escaped.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let escape = |character| match character {
        '"' | '\'' | '\\' => String::from(character),
        other => other.escape_debug().to_string(),
    };
    text.chars().take(max).map(escape).collect()
}

pub(super) struct Line {
    pub record: ByteRecord,
    pub number: u64,
}

pub(super) struct Lines<'t> {
    file: &'static str,
    reader: Reader<&'t [u8]>,
    last_number: u64,
    pub empty_lines: u64,
}

impl<'t> Lines<'t> {
    pub fn new(file: &'static str, delimiter: u8, text: &'t [u8]) -> Self {
        let mut builder = ReaderBuilder::new();
        // A carriage return before a line feed is padding of the last cell, so line counts are correct.
        builder.has_headers(false).flexible(true).terminator(Terminator::Any(b'\n'));
        builder.delimiter(delimiter).quoting(delimiter != b'\t');
        Self { file, reader: builder.from_reader(text), last_number: 0, empty_lines: 0 }
    }

    pub fn next(&mut self) -> Result<Option<Line>, ReportError> {
        let file = self.file;
        let mut record = ByteRecord::new();
        let is_read = self.reader.read_byte_record(&mut record).map_err(|error| {
            ReportError::new(format!("{file} cannot be split into rows: {error}"))
        })?;
        if !is_read {
            return Ok(None);
        }
        // The reader skips empty lines. After a record, its position is the next line.
        let number = self.reader.position().line().saturating_sub(1);
        self.empty_lines += number.saturating_sub(self.last_number + 1);
        self.last_number = number;
        if record.iter().any(|cell| cell.contains(&b'\n')) {
            return Err(ReportError::new(format!(
                "{file}, line {number}: an earlier row has an unclosed quote, or a cell contains a line \
                 break"
            )));
        }
        Ok(Some(Line { record, number }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_report_format() {
        let read = |text| date(text).map(|date| date.to_string());
        assert_eq!(read("1/2/26").as_deref(), Some("2026-01-02"));
        assert_eq!(read("09/04/99").as_deref(), Some("1999-09-04"));
        for text in ["09/04/2026", "9/4/2026", "2026-09-04", "2026-09-04T00:00:00", "9/4/2026 1:00"]
        {
            assert_eq!(read(text).as_deref(), Some("2026-09-04"), "{text}");
        }
        for text in ["1/2/", "13/13/26", "26", "1/2/3/26"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn cell_padding_and_quotes_are_removed_in_either_encoding() {
        for (cell, text) in [
            (b" \" a \" ".as_slice(), "a"),
            (b"\"a\" b", "\"a\" b"),
            (b"\"", "\""),
            (b" \"\" ", ""),
            (b" \" Qu\xe9bec\" ", "Qu\u{e9}bec"),
            ("\u{a0}\"Qu\u{e9}bec \"".as_bytes(), "Qu\u{e9}bec"),
        ] {
            assert_eq!(decode_cell(cell), text, "{cell:?}");
        }
    }
}
