//! Delimited text, line by line.

use std::io::Read;

use csv::{ByteRecord, Reader, ReaderBuilder};
use logging::with_causes;

use crate::error::ReportError;

pub(super) struct Line {
    pub record: ByteRecord,
    pub number: u64,
}

pub(super) struct Lines<R> {
    file: &'static str,
    reader: Reader<R>,
    last_number: u64,
    pub empty_lines: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(file: &'static str, delimiter: u8, reader: R) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true);
        builder.delimiter(delimiter).quoting(delimiter != b'\t');
        Self { file, reader: builder.from_reader(reader), last_number: 0, empty_lines: 0 }
    }

    pub fn next(&mut self) -> Result<Option<Line>, ReportError> {
        let file = self.file;
        let mut record = ByteRecord::new();
        let is_read = self.reader.read_byte_record(&mut record).map_err(|error| {
            let message = format!("{file} cannot be split into rows");
            ReportError::with_quote(format!("{message}: {}", with_causes(&error)), message)
        })?;
        if !is_read {
            return Ok(None);
        }
        // The reader skips empty lines, and its position is the line after the record.
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
