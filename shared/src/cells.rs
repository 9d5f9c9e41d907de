//! CSV output (RFC 4180) that is safe to open in a spreadsheet.
//!
//! Spreadsheets evaluate cells that start with `=`, `+`, `-` or `@`, so text from the data or a request could leak
//! the rest of the sheet. As [OWASP advises](https://owasp.org/www-community/attacks/CSV_Injection), such cells get
//! a leading apostrophe. Numbers such as `+13052345678` are harmless and stay unchanged.

use std::{borrow::Cow, io::Write};

use csv::{Terminator, Writer, WriterBuilder};

/// The media type of CSV with a header row.
pub const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// The characters that start a formula, including their full-width forms.
const FORMULA_PREFIXES: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

pub fn csv_writer<W: Write>(output: W, delimiter: u8) -> Writer<W> {
    WriterBuilder::new().delimiter(delimiter).terminator(Terminator::CRLF).from_writer(output)
}

/// Adds an apostrophe to text that a spreadsheet would evaluate.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

fn is_formula(text: &str) -> bool {
    // Some spreadsheets ignore a leading tab or line break, and may ignore other whitespace.
    let is_ignored = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
    let has_formula_prefix = text.trim_start_matches(is_ignored).starts_with(FORMULA_PREFIXES);
    text.starts_with(['\t', '\r', '\n']) || (has_formula_prefix && !is_signed_number(text))
}

/// Returns `true` if the text is a plus or minus sign followed by digits and phone number punctuation.
fn is_signed_number(text: &str) -> bool {
    let is_number_character =
        |c: char| c.is_ascii_digit() || matches!(c, ' ' | '(' | ')' | '-' | '.');
    text.strip_prefix(['+', '-']).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit() || c == '(')
            && rest.chars().all(is_number_character)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::case_table::rows;

    #[test]
    fn a_formula_gets_an_apostrophe() {
        for [text, expected] in rows(include_str!("cells.txt")) {
            assert_eq!(escape_formula(&text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn escaped_cells_never_start_a_formula(text in "[ \t\r\n\u{0}+=@\u{feff}＝-]{0,3}[A-Z0-9!|(),.+-]{0,12}") {
            let cell = escape_formula(&text);
            let visible = cell.trim_start_matches(|c: char| c.is_whitespace() || "\0\u{feff}".contains(c));
            let is_number = !visible.contains(|c: char| c.is_alphabetic() || "!|=@,＝".contains(c));
            prop_assert!(is_number || !visible.starts_with(FORMULA_PREFIXES), "{cell:?}");
            prop_assert!(cell.strip_prefix('\'').unwrap_or(&cell) == text);
        }
    }
}
