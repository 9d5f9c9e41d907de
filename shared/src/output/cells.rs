//! CSV cells (RFC 4180) that are safe to open in a spreadsheet: none is a formula.
//!
//! A spreadsheet evaluates cells that start with `=`, `+`, `-` or `@`, so a name in the data or a request could
//! leak the rest of the sheet. As [OWASP advises](https://owasp.org/www-community/attacks/CSV_Injection), such
//! cells get a leading apostrophe. Numbers such as `+13052345678` are exempt: they refer to no cell or
//! function.

use std::{borrow::Cow, io::Write};

use csv::{Terminator, Writer, WriterBuilder};

/// The media type of CSV with a header row.
pub const MEDIA_TYPE: &str = "text/csv; charset=utf-8; header=present";

/// The characters that start a formula, including their full-width forms.
const FORMULA_BEGINNINGS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Writes CSV rows (RFC 4180) with the given delimiter.
pub fn writer_of_rows<W: Write>(output: W, delimiter: u8) -> Writer<W> {
    WriterBuilder::new().delimiter(delimiter).terminator(Terminator::CRLF).from_writer(output)
}

/// Escapes text so that no spreadsheet evaluates it.
pub fn inert(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

fn is_formula(text: &str) -> bool {
    // Some spreadsheets drop a leading tab or line end, and may drop other whitespace.
    let is_dropped = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
    let begins_with_dropped = text.starts_with(['\t', '\r', '\n']);
    let shown = text.trim_start_matches(is_dropped);
    let begins_formula = shown.starts_with(FORMULA_BEGINNINGS);
    begins_with_dropped || (begins_formula && !is_signed_number(text))
}

/// Returns `true` if the text is a plus or minus sign followed only by digits and phone number punctuation.
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
        fn escaped_cells_never_start_a_formula(text in "[ \t\r\n\u{0}+=@\u{feff}＝-]{0,3}[A-Z0-9!|(),.+-]{0,12}") {
            let cell = inert(&text);
            let shown = cell.trim_start_matches(|c: char| c.is_whitespace() || "\0\u{feff}".contains(c));
            let is_number = !shown.contains(|c: char| c.is_alphabetic() || "!|=@,＝".contains(c));
            prop_assert!(is_number || !shown.starts_with(FORMULA_BEGINNINGS), "{cell:?}");
            prop_assert!(cell.strip_prefix('\'').unwrap_or(&cell) == text);
        }
    }
}
