//! The rows of a list, some at a time.

use std::io::{self, BufRead, BufReader, Chain, Read};

use csv::{ByteRecord, Terminator};
use format::open_quote::{END_OF_CSV, has_open_quote, is_end_of_csv};

use crate::csv_errors::io_error;

use super::{
    decoding::BYTES_AT_ONCE,
    layout::{Layout, LineEnds},
};

/// Most bytes of a row. One that is longer is mostly the rest of a file after a quote that is not closed.
const LONGEST_ROW: usize = 1 << 20;
/// After how many rows, or bytes of them, a part is full.
const ROWS_OF_PART: usize = 1000;
const BYTES_OF_PART: usize = 256 * 1024;

/// A row, and the line of the file in which it begins.
#[derive(Debug)]
pub(super) struct Row {
    pub line: u64,
    pub cells: ByteRecord,
}

/// Why a list cannot be read on.
#[derive(Debug, thiserror::Error)]
#[error("the row in line {line} cannot be read")]
pub(super) struct RowError {
    line: u64,
    source: io::Error,
}

/// Reads the rows of a list.
pub(super) struct Rows {
    reader: Reader,
    /// Why reading ended after the rows that were given last.
    failure: Option<RowError>,
}

enum Reader {
    Lines { reader: BufReader<Bounded>, line: u64 },
    Csv(Box<CsvReader>),
}

type CsvReader = csv::Reader<Chain<Bounded, &'static [u8]>>;

impl Rows {
    /// The rows after the header.
    pub fn of(reader: Box<dyn Read + Send>, layout: &Layout) -> Result<Self, RowError> {
        let bounded = Bounded::of(reader, layout.line_ends);
        let Some(delimiter) = layout.delimiter else {
            let reader = BufReader::with_capacity(BYTES_AT_ONCE, bounded);
            return Ok(Self { reader: Reader::Lines { reader, line: 0 }, failure: None });
        };
        let mut csv = csv::ReaderBuilder::new();
        csv.has_headers(false).flexible(true).buffer_capacity(BYTES_AT_ONCE);
        csv.terminator(Terminator::Any(b'\n'));
        let csv = csv.delimiter(delimiter).from_reader(bounded.chain(END_OF_CSV));
        let mut reader = Reader::Csv(Box::new(csv));
        for _ in 0..usize::from(layout.has_separator_line) + usize::from(layout.has_header) {
            reader.next()?;
        }
        Ok(Self { reader, failure: None })
    }

    /// The next rows; `None` after the last one.
    pub fn next_part(&mut self) -> Result<Option<Vec<Row>>, RowError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < ROWS_OF_PART && bytes < BYTES_OF_PART {
            match self.reader.next() {
                Ok(Some(row)) => {
                    bytes += row.cells.as_slice().len();
                    rows.push(row);
                }
                Ok(None) => break,
                Err(error) if rows.is_empty() => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(if rows.is_empty() { None } else { Some(rows) })
    }
}

impl Reader {
    fn next(&mut self) -> Result<Option<Row>, RowError> {
        match self {
            Self::Lines { reader, line } => {
                *line += 1;
                let text = next_line(reader).map_err(|source| RowError { line: *line, source })?;
                Ok(text.map(|text| Row { line: *line, cells: ByteRecord::from(vec![text]) }))
            }
            Self::Csv(reader) => next_row(reader),
        }
    }
}

/// The next row that is not empty; `None` after the last one.
///
/// The parser skips empty lines only if they end with LF alone, and takes the CR of other lines for a
/// part of their last cell.
fn next_row(reader: &mut CsvReader) -> Result<Option<Row>, RowError> {
    loop {
        reader.get_mut().get_mut().0.bytes_of_row = 0;
        let begins = reader.position().line();
        let mut cells = ByteRecord::new();
        match reader.read_byte_record(&mut cells) {
            Ok(true) => (),
            Ok(false) => return Ok(None),
            Err(error) => return Err(RowError { line: begins, source: io_error(error) }),
        }
        if is_end_of_csv(cells.as_slice()) {
            return Ok(None);
        }
        // The line in which the row ends, which is the one before the next row, and whatever stood
        // before its beginning.
        let inner = cells.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        let is_open = has_open_quote(cells.as_slice());
        let last = reader.position().line().saturating_sub(u64::from(!is_open));
        let line = last.saturating_sub(inner).max(begins);
        if is_open {
            let source = io::Error::other("a quote in it is not closed");
            return Err(RowError { line, source });
        }
        if cells.as_slice().ends_with(b"\r") {
            cells = without_last_byte(&cells);
        }
        if cells.len() > 1 || !cells.as_slice().is_empty() {
            return Ok(Some(Row { line, cells }));
        }
    }
}

fn without_last_byte(cells: &ByteRecord) -> ByteRecord {
    let last = cells.len().saturating_sub(1);
    let cut = |(position, cell): (usize, &'_ [u8])| {
        let end = cell.len() - usize::from(position == last && !cell.is_empty());
        cell[..end].to_vec()
    };
    cells.iter().enumerate().map(cut).collect()
}

/// The next line without its end; `None` after the last one.
fn next_line(reader: &mut BufReader<Bounded>) -> io::Result<Option<Vec<u8>>> {
    reader.get_mut().bytes_of_row = 0;
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    }
    if line.ends_with(b"\r") {
        line.pop();
    }
    Ok(Some(line))
}

/// A text in which the last line ends as all others do, and no line ends with CR alone. Reading fails if a
/// row is too long.
pub(super) struct Bounded {
    inner: Box<dyn Read + Send>,
    line_ends: LineEnds,
    /// How much has been read since the row began.
    bytes_of_row: usize,
    /// Whether the last byte ended a line, or there was none.
    is_line_ended: bool,
}

impl Bounded {
    fn of(inner: Box<dyn Read + Send>, line_ends: LineEnds) -> Self {
        Self { inner, line_ends, bytes_of_row: 0, is_line_ended: true }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes_of_row > LONGEST_ROW {
            return Err(io::Error::other(format!(
                "it has more than {LONGEST_ROW} bytes; is a quote not closed?"
            )));
        }
        let read = self.inner.read(buffer)?;
        self.bytes_of_row += read;
        if read == 0 {
            let [end, ..] = buffer else { return Ok(0) };
            let is_missing = !std::mem::replace(&mut self.is_line_ended, true);
            *end = b'\n';
            return Ok(is_missing.into());
        }
        if self.line_ends == LineEnds::Cr {
            let ends = buffer[..read].iter_mut().filter(|byte| **byte == b'\r');
            ends.for_each(|byte| *byte = b'\n');
        }
        self.is_line_ended = buffer[read - 1] == b'\n';
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::{super::layout::Request, *};

    fn rows(text: &str, is_csv: bool) -> Result<Vec<(u64, Vec<String>)>, RowError> {
        let columns = Vec::from_iter(is_csv.then(|| "1".to_owned()));
        let request = Request { is_csv: Some(is_csv), columns, ..Request::default() };
        let layout = Layout::of(text.as_bytes(), &request).unwrap();
        let mut rows = Rows::of(Box::new(Cursor::new(text.as_bytes().to_vec())), &layout)?;
        let mut read = Vec::new();
        while let Some(part) = rows.next_part()? {
            read.extend(part.into_iter().map(|Row { line, cells }| {
                let cells = cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
                (line, cells.collect())
            }));
        }
        Ok(read)
    }

    fn lines_of(text: &str) -> Vec<u64> {
        rows(text, true).unwrap().into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn every_line_is_a_row_and_empty_ones_are_kept() {
        let read = rows("305\r\n\n 306\n307", false).unwrap();
        let cells: Vec<(u64, &str)> =
            read.iter().map(|(line, cells)| (*line, cells[0].as_str())).collect();
        assert_eq!(cells, [(1, "305"), (2, ""), (3, " 306"), (4, "307")]);
        assert!(rows("", false).unwrap().is_empty());
        assert_eq!(rows("305\r306\r", false).unwrap().len(), 2);
        let quoted = "name,phone,note\rAda,305,\"a\nb\"\rBob,306,\r";
        assert_eq!(rows(quoted, true).unwrap().len(), 2, "a line end within quotes ends no row");
    }

    #[test]
    fn a_row_of_a_csv_has_the_line_in_which_it_begins() {
        assert_eq!(lines_of("a,b\n1,2\n3,4\n"), [2, 3]);
        assert_eq!(lines_of("a,b\r\n1,2\r\n3,4\r\n"), [2, 3]);
        assert_eq!(lines_of("a,b\n\"1\n1\",2\n3,4"), [2, 4]);
        assert_eq!(lines_of("a,b\n\n\n3,4"), [4]);
        assert_eq!(lines_of("a,b\r\n\r\n3,4\r\n5,6"), [3, 4]);
        assert_eq!(lines_of("a,b\r1,2\r\r3,4"), [2, 4]);
        assert_eq!(lines_of("sep=;\r\na;b\r\n1;2\r\n"), [3]);
        assert_eq!(lines_of("\n\na,b\r\n\"1\r\n1\",2\r\n3,4"), [4, 6]);
    }

    #[test]
    fn the_end_of_a_line_is_in_no_cell_and_those_within_quotes_stay() {
        let read = rows("a,b\r\n1,\"2\"\r\n\"x\r\ny\",\r\n", true).unwrap();
        assert_eq!(read[0].1, ["1", "2"]);
        assert_eq!(read[1].1, ["x\r\ny", ""]);
    }

    #[test]
    fn rows_may_have_fewer_or_more_cells_than_the_header() {
        let read = rows("a,b\n1\n1,2,3\n", true).unwrap();
        assert_eq!(read.iter().map(|(_, cells)| cells.len()).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn a_quote_that_is_not_closed_does_not_fill_the_memory() {
        let open = format!("a,b\n1,2\n\"3{}", ",4\n".repeat(1 << 20));
        let refused = rows(&open, true).unwrap_err();
        assert_eq!(refused.line, 3);
        assert!(refused.source.to_string().contains("is a quote not closed?"), "{refused:?}");
        assert!(rows(&"1".repeat(2 << 20), false).is_err());
        assert!(rows(&"1".repeat(900_000), false).is_ok());
    }

    #[test]
    fn a_quote_that_is_not_closed_is_an_error_and_swallows_no_row() {
        let refused = rows("a,b\n1,2\n\n3,\"4\n5,6\n7,8\n", true).unwrap_err();
        assert_eq!(refused.line, 4);
        assert_eq!(refused.source.to_string(), "a quote in it is not closed");
        for closed in ["a,b\n1,\"2\n\"\n", "a,b\n1,\"2\"", "a,b\n1,5\" pipe\n"] {
            assert_eq!(rows(closed, true).unwrap().len(), 1, "{closed:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in any::<String>(), csv in "[ab,;\"\r\n]{0,60}") {
            for is_csv in [false, true] {
                _ = rows(&csv, is_csv);
                _ = rows(&text, is_csv);
            }
        }
    }
}
