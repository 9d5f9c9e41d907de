//! Cells of CSV (RFC 4180), which a spreadsheet may be opened with: none of them is a formula there.
//!
//! A spreadsheet computes a cell that begins with `=`, `+`, `-` or `@`. A name in the data or in a request could
//! so send the rest of the sheet elsewhere. As [OWASP
//! advises](https://owasp.org/www-community/attacks/CSV_Injection), such a cell gets an apostrophe before it. The
//! exception are numbers such as `+13052345678`, which name no cell and no function.

use std::{borrow::Cow, io::Write};

use csv::{Terminator, Writer, WriterBuilder};

/// The media type of rows of which the first names the columns.
pub const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// The characters with which a formula begins, including those that East Asian keyboards type.
const FORMULA_BEGINNINGS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Writes rows as RFC 4180 has them, except that another character than a comma may delimit cells.
pub fn writer_of_rows<W: Write>(output: W, delimiter: u8) -> Writer<W> {
    WriterBuilder::new().delimiter(delimiter).terminator(Terminator::CRLF).from_writer(output)
}

/// The text as a cell that no spreadsheet computes.
pub fn inert(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

fn is_formula(text: &str) -> bool {
    // A tab or a line end in front is dropped by some spreadsheets, and so may be other space.
    let is_dropped = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
    let begins_with_dropped = text.starts_with(['\t', '\r', '\n']);
    let shown = text.trim_start_matches(is_dropped);
    let begins_formula = shown.starts_with(FORMULA_BEGINNINGS);
    begins_with_dropped || (begins_formula && !is_signed_number(text))
}

/// Returns `true` if the text is a plus or minus sign before nothing but digits and the punctuation of phone
/// numbers.
fn is_signed_number(text: &str) -> bool {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '(' | ')' | '-' | '.');
    text.strip_prefix(['+', '-']).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit() || c == '(') && rest.chars().all(is_of_number)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_formula_gets_an_apostrophe() {
        for formula in [
            "=HYPERLINK(\"http://a.example\")",
            "@SUM(1)",
            "+A1",
            "-A1",
            "+1*cmd|'/C calc'!A0",
            "+1 305 234 5678 ext. 42",
            "+",
            "--1",
            "\r305",
            "  =1",
            "\u{1}=1",
            "\u{feff}=1",
            "＋13052345678",
        ] {
            assert_eq!(inert(formula), format!("'{formula}"), "{formula:?}");
        }
        for text in
            ["", "+13052345678", "+1 (305) 234-5678", "-305", "tel:+1-305", "A=B", "'=1", " 305"]
        {
            assert_eq!(inert(text), text, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_cell_begins_with_the_sign_of_a_formula(text in "[ \t\r\n\u{0}+=@\u{feff}＝-]{0,3}[A-Z0-9!|(),.+-]{0,12}") {
            let cell = inert(&text);
            let shown = cell.trim_start_matches(|c: char| c.is_whitespace() || "\0\u{feff}".contains(c));
            let is_number = !shown.contains(|c: char| c.is_alphabetic() || "!|=@,＝".contains(c));
            prop_assert!(is_number || !shown.starts_with(FORMULA_BEGINNINGS), "{cell:?}");
            prop_assert!(cell.strip_prefix('\'').unwrap_or(&cell) == text);
        }
    }
}
