//! The delimiter and line endings of a list.

use csv::{ByteRecord, ReaderBuilder};

/// Supported delimiters. If two split the first row into the same number of cells, the first one wins. Excel writes
/// semicolons in locales whose decimal separator is a comma.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter and line endings of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub delimiter: u8,
    pub line_endings: LineEndings,
    /// True if the rows follow a line such as `sep=;`, which Excel reads and writes.
    pub has_separator_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEndings {
    Lf,
    CrLf,
    /// Written by Excel for Mac.
    Cr,
}

impl Dialect {
    /// Detects the dialect of a list from its first bytes, and splits its first row into cells. Without a
    /// row, there are no cells.
    pub fn detect(head: &[u8]) -> (Self, ByteRecord) {
        let named = named_delimiter(head);
        let (delimiter, row) = match named {
            Some((delimiter, start)) => (delimiter, first_row(delimiter, &head[start..])),
            None => {
                let rows = DELIMITERS.map(|delimiter| (delimiter, first_row(delimiter, head)));
                // Reversed, because `max_by_key` returns the last of several equal rows.
                let longest = rows.into_iter().rev().max_by_key(|(_, row)| row.len());
                longest.unwrap_or_default()
            }
        };
        let has_separator_line = named.is_some();
        (Self { delimiter, line_endings: LineEndings::detect(head), has_separator_line }, row)
    }

    /// Returns `true` if `head` contains a complete row, not counting a separator line.
    pub fn has_row(head: &[u8]) -> bool {
        let start = named_delimiter(head).map_or(0, |(_, start)| start);
        unquoted(&head[start..]).any(|(_, byte)| byte == b'\n')
    }
}

impl LineEndings {
    /// Detects the line ending. A bare CR counts only if the text has no LF.
    fn detect(head: &[u8]) -> Self {
        let mut ends = unquoted(head).filter(|(_, byte)| matches!(byte, b'\n' | b'\r')).peekable();
        let has_any = ends.peek().is_some();
        match ends.find(|(_, byte)| *byte == b'\n') {
            Some((end, _)) if head[..end].ends_with(b"\r") => Self::CrLf,
            None if has_any => Self::Cr,
            _ => Self::Lf,
        }
    }
}

/// The bytes outside of quotes; quoted text may contain any line ending. An escaped quote is two quotes.
fn unquoted(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let mut is_quoted = false;
    text.iter().copied().enumerate().filter(move |(_, byte)| {
        is_quoted ^= *byte == b'"';
        !is_quoted
    })
}

fn first_row(delimiter: u8, text: &[u8]) -> ByteRecord {
    let mut reader = ReaderBuilder::new();
    let mut reader = reader.has_headers(false).delimiter(delimiter).from_reader(text);
    let mut row = ByteRecord::new();
    // Reading from memory cannot fail.
    _ = reader.read_byte_record(&mut row);
    row
}

/// The delimiter named by a first line such as `sep=;`, and the offset of the rows after it.
fn named_delimiter(text: &[u8]) -> Option<(u8, usize)> {
    let (name, rest) = text.split_at_checked(4)?;
    let (&delimiter, rest) = rest.split_first()?;
    let line_end = match rest {
        [] => 0,
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    let is_delimiter = matches!(delimiter, b'\t' | b' ')
        || (delimiter.is_ascii_punctuation() && delimiter != b'"');
    let is_named = name.eq_ignore_ascii_case(b"sep=") && is_delimiter;
    is_named.then_some((delimiter, name.len() + 1 + line_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_splits_the_first_row_into_the_most_cells() {
        for line in include_str!("dialects.txt").lines().filter(|line| !line.starts_with('#')) {
            let (text, expected) = line.split_once(" => ").unwrap();
            let text = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\t", "\t");
            let (Dialect { delimiter, line_endings, .. }, row) = Dialect::detect(text.as_bytes());
            let delimiter = char::from(delimiter).to_string().replace('\t', "\\t");
            let found = format!("{delimiter} {} {line_endings:?}", row.len());
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn a_separator_line_names_the_delimiter_as_in_excel() {
        for (text, expected) in [
            ("sep=;\r\na;b", (b';', 7)),
            ("SEP=,\na,b", (b',', 6)),
            ("sep=\t\ra", (b'\t', 6)),
            ("sep=|", (b'|', 5)),
        ] {
            assert_eq!(named_delimiter(text.as_bytes()), Some(expected), "{text:?}");
        }
        for text in ["sep=;;\n", "sep=\n", "sep=\"\n", "sep=a\n", "sep", "separator\n"] {
            assert_eq!(named_delimiter(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_row_is_complete_once_a_line_ends_outside_of_quotes() {
        assert!(!Dialect::has_row(b"sep=;\n\"the \"\"best\"\"\nname\""));
        assert!(Dialect::has_row(b"\"the \"\"best\"\"\nname\",phone\n"));
    }
}
