//! The rows of a list, each with its line number.

use std::io::{self, BufRead, BufReader, Chain, Read};

use csv::{ByteRecord, Terminator};

use super::dialect::{Dialect, LineEndings};

pub const BUFFER_BYTES: usize = 64 * 1024;

/// The maximum length of a row. A longer one is usually the rest of a file after an unclosed quote.
const MAX_ROW_BYTES: usize = 1 << 20;

/// A marker row appended to a CSV. It becomes its own row unless a quote is still open. Without it, the parser would
/// close the quote at the end, and return all rows after it as one cell.
const END_OF_CSV: &[u8] = b"\n\0end of the CSV\0";

#[derive(Debug)]
pub struct Row {
    /// The line in the file on which the row starts.
    pub line: u64,
    /// The number of empty lines directly before it.
    pub empty_lines: u64,
    pub cells: ByteRecord,
}

/// A failure to read a row.
#[derive(Debug, thiserror::Error)]
#[error("the row on line {line} cannot be read")]
pub struct RowError {
    pub line: u64,
    source: io::Error,
}

/// The rows of a list. For CSV, empty lines are skipped.
pub struct Rows<R> {
    parser: Parser<R>,
    /// The number of the line after the row read last.
    next_line: u64,
}

enum Parser<R> {
    Lines(BufReader<LimitedReader<R>>),
    Csv(Box<csv::Reader<Chain<LimitedReader<R>, &'static [u8]>>>),
}

impl<R: Read> Rows<R> {
    /// Reads text with one number per line.
    pub fn from_lines(text: R, line_endings: LineEndings) -> Self {
        let limited = LimitedReader { inner: text, line_endings, row_bytes: 0 };
        Self {
            parser: Parser::Lines(BufReader::with_capacity(BUFFER_BYTES, limited)),
            next_line: 1,
        }
    }

    /// Reads a CSV with its header.
    pub fn from_csv(text: R, dialect: &Dialect) -> Result<Self, RowError> {
        let line_endings = dialect.line_endings;
        let limited = LimitedReader { inner: text, line_endings, row_bytes: 0 };
        let mut parser = csv::ReaderBuilder::new();
        parser.has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES);
        parser.terminator(Terminator::Any(b'\n')).delimiter(dialect.delimiter);
        let parser = Parser::Csv(Box::new(parser.from_reader(limited.chain(END_OF_CSV))));
        let mut rows = Self { parser, next_line: 1 };
        if dialect.has_separator_line {
            rows.next().transpose()?;
        }
        Ok(rows)
    }
}

impl<R: Read> Iterator for Rows<R> {
    type Item = Result<Row, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.parser {
            Parser::Lines(reader) => {
                let line = self.next_line;
                self.next_line += 1;
                let text = next_line(reader).map_err(|source| RowError { line, source });
                let row = |text| Row { line, empty_lines: 0, cells: ByteRecord::from(vec![text]) };
                text.transpose().map(|text| text.map(row))
            }
            Parser::Csv(parser) => next_row(parser, &mut self.next_line).transpose(),
        }
    }
}

fn next_line<R: Read>(reader: &mut BufReader<LimitedReader<R>>) -> io::Result<Option<Vec<u8>>> {
    reader.get_mut().row_bytes = 0;
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    for end in [b"\n", b"\r"] {
        if line.ends_with(end) {
            line.pop();
        }
    }
    Ok(Some(line))
}

/// The next non-empty row.
///
/// The parser skips empty lines only if they end with a bare LF, and treats the CR of other lines as part of the
/// last cell.
fn next_row<R: Read>(
    parser: &mut csv::Reader<Chain<LimitedReader<R>, &'static [u8]>>,
    next_line: &mut u64,
) -> Result<Option<Row>, RowError> {
    loop {
        parser.get_mut().get_mut().0.row_bytes = 0;
        let start = parser.position().line();
        let mut cells = ByteRecord::new();
        let found_record = parser
            .read_byte_record(&mut cells)
            .map_err(|error| RowError { line: start, source: error.into() })?;
        if !found_record || cells.as_slice() == &END_OF_CSV[1..] {
            return Ok(None);
        }
        // The row ends on the line before the next row. The parser skips any empty lines before the row.
        let is_open = cells.as_slice().ends_with(END_OF_CSV);
        let end = parser.position().line();
        let inner = cells.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        let last = end.saturating_sub(u64::from(!is_open));
        let line = last.saturating_sub(inner).max(start);
        if is_open {
            let source = io::Error::other("it has an unclosed quote");
            return Err(RowError { line, source });
        }
        if cells.as_slice().ends_with(b"\r") {
            cells = without_last_byte(&cells);
        }
        if cells.len() > 1 || !cells.as_slice().is_empty() {
            let empty_lines = line - std::mem::replace(next_line, end);
            return Ok(Some(Row { line, empty_lines, cells }));
        }
    }
}

fn without_last_byte(cells: &ByteRecord) -> ByteRecord {
    let mut cells: Vec<&[u8]> = cells.iter().collect();
    if let Some(last) = cells.last_mut() {
        *last = last.split_last().map_or(*last, |(_, rest)| rest);
    }
    cells.into()
}

/// Converts CR line endings to LF, and fails if a row is too long.
struct LimitedReader<R> {
    inner: R,
    line_endings: LineEndings,
    /// The number of bytes read since the row started.
    row_bytes: usize,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.row_bytes > MAX_ROW_BYTES {
            return Err(io::Error::other(format!(
                "it is longer than {MAX_ROW_BYTES} bytes; check for an unclosed quote"
            )));
        }
        let read = self.inner.read(buffer)?;
        self.row_bytes += read;
        if self.line_endings == LineEndings::Cr {
            let ends = buffer[..read].iter_mut().filter(|byte| **byte == b'\r');
            ends.for_each(|byte| *byte = b'\n');
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, is_csv: bool) -> Result<Vec<Row>, RowError> {
        let (dialect, _) = Dialect::detect(text.as_bytes());
        if is_csv {
            Rows::from_csv(text.as_bytes(), &dialect)?.collect()
        } else {
            Rows::from_lines(text.as_bytes(), dialect.line_endings).collect()
        }
    }

    /// The rows with their line numbers and the number of empty lines before them, as in `2+1:a|b`.
    fn write(rows: Result<Vec<Row>, RowError>) -> String {
        let row = |Row { line, empty_lines, cells }: Row| {
            let cells: Vec<_> = cells.iter().map(String::from_utf8_lossy).collect();
            let empty = if empty_lines > 0 { format!("+{empty_lines}") } else { String::new() };
            format!("{line}{empty}:{}", cells.join("|"))
        };
        match rows {
            Ok(rows) => rows.into_iter().map(row).collect::<Vec<_>>().join("  "),
            Err(RowError { line, source }) => format!("line {line}: {source}"),
        }
    }

    #[test]
    fn rows_have_their_cells_and_line_numbers() {
        let cases = include_str!("rows.txt").lines().filter(|case| !case.starts_with('#'));
        for case in cases {
            let (text, expected) = case.split_once(" => ").unwrap();
            let (kind, text) = text.split_once(' ').unwrap_or((text, ""));
            let text = text.replace("\\r", "\r").replace("\\n", "\n");
            let found =
                write(parse(&text, kind == "csv")).replace('\n', "\\n").replace('\r', "\\r");
            assert_eq!(found, expected.trim(), "{case}");
        }
    }

    #[test]
    fn a_long_row_is_rejected() {
        let open = format!("a,b\n1,2\n\"3{}", ",4\n".repeat(1 << 20));
        let message = "line 3: it is longer than 1048576 bytes; check for an unclosed quote";
        assert_eq!(write(parse(&open, true)), message);
        assert!(parse(&"1".repeat(2 << 20), false).is_err());
        assert!(parse(&"1".repeat(900_000), false).is_ok());
    }
}
