//! Classes of characters in text around phone numbers.

use super::metadata::RULES;

/// The text with every decimal digit of Unicode as an ASCII digit. `None` if it has another numeral, such
/// as a fraction, since that is not a digit of a phone number.
pub fn with_ascii_digits(text: &str) -> Option<String> {
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() || !c.is_numeric() {
            ascii.push(c);
        } else {
            let digit = RULES.normalize_digits_only(c.encode_utf8(&mut [0; 4]));
            ascii.push(digit.chars().next()?);
        }
    }
    Some(ascii)
}

pub fn is_plus(c: char) -> bool {
    matches!(c, '+' | '＋')
}

/// Whether the character is a letter to its reader. Unicode also counts two Japanese dashes and some
/// invisible characters as letters.
pub fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_invisible(c) && !matches!(c, '\u{30fc}' | '\u{ff70}')
}

pub fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the character is drawn as nothing: `Default_Ignorable_Code_Point` of Unicode 17, and
/// interlinear annotations. Some of these are letters.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

pub fn digit_count(text: &str) -> usize {
    text.chars().filter(|c| c.is_numeric()).count()
}
