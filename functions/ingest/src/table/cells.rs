//! The text of cells: decoded, bare, and as a message may show it.

use std::borrow::Cow;

use csv::ByteRecord;
use encoding_rs::WINDOWS_1252;
use jiff::civil::Date;

/// A date as the reports write it: `09/04/2026`, `9/4/26` or `2026-09-04`. Of two digits, a year up
/// to 68 is of this century, as spreadsheets and C libraries read it.
pub(crate) fn date(text: &str) -> Option<Date> {
    // A time of day may follow.
    let day = text.split([' ', 'T']).next()?;
    let format = match day.rsplit_once('/') {
        Some((_, year)) if year.len() == 2 => "%m/%d/%y",
        Some(_) => "%m/%d/%Y",
        None => "%Y-%m-%d",
    };
    Date::strptime(format, day).ok()
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

/// As much of a file's text as a message should show, with what a terminal would obey escaped.
pub(super) fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for character in text.chars().take(most) {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_of_two_digits_is_of_our_time() {
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
    fn what_is_shown_keeps_quotes_and_letters_and_escapes_the_rest() {
        assert_eq!(
            shown("it's \"é\" \u{1b}[31m\0\u{202e}", 99),
            "it's \"é\" \\u{1b}[31m\\0\\u{202e}"
        );
        assert_eq!(shown("abc", 2), "ab");
    }
}
