//! The text of cells: decoded, bare, and as a message may show it.

use std::borrow::Cow;

use csv::ByteRecord;
use encoding_rs::WINDOWS_1252;
use jiff::civil::Date;

/// A date as the reports write it: `09/04/2026` or `2026-09-04`.
pub(crate) fn date(text: &str) -> Option<Date> {
    // a time of day may follow
    let day = text.split([' ', 'T']).next()?;
    ["%m/%d/%Y", "%Y-%m-%d"].iter().find_map(|format| Date::strptime(format, day).ok())
}

/// The text of a cell without its padding, then without its quotes.
pub(super) fn clean(cell: &[u8]) -> Cow<'_, str> {
    let bare = |cell: &str| -> (usize, usize) {
        let start = cell.trim();
        let text = start.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(start);
        let text = text.trim();
        let from = text.as_ptr() as usize - cell.as_ptr() as usize;
        (from, from + text.len())
    };
    match str::from_utf8(cell) {
        Ok(text) => {
            let (from, to) = bare(text);
            Cow::Borrowed(&text[from..to])
        }
        Err(_) => {
            let text = WINDOWS_1252.decode_without_bom_handling(cell).0;
            let (from, to) = bare(&text);
            Cow::Owned(text[from..to].to_owned())
        }
    }
}

/// The text of a cell, if it has any.
pub(crate) fn filled(cell: &str) -> Option<&str> {
    Some(cell).filter(|cell| !cell.is_empty())
}

/// As much of a file's text as a message should show, and nothing a terminal would obey.
pub(super) fn shown(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(most).collect()
}

/// What a row holds besides empty cells.
pub(super) enum Lone<'a> {
    Blank,
    /// One cell, not the first: a row that begins with its one cell is one that is cut off.
    Cell(Cow<'a, str>),
    No,
}

pub(super) fn lone_cell(record: &ByteRecord) -> Lone<'_> {
    let mut filled = record.iter().map(clean).enumerate().filter(|(_, cell)| !cell.is_empty());
    match (filled.next(), filled.next()) {
        (None, _) => Lone::Blank,
        (Some((1.., cell)), None) => Lone::Cell(cell),
        _ => Lone::No,
    }
}
