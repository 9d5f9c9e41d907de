//! Character classes for text around phone numbers, and conversions for the rules.

use super::metadata::RULES;

/// The maximum length of text that Google's rules accept, in characters.
pub const MAX_INPUT_LENGTH: usize = 250;

/// Returns `true` if the rules can read the text: it is not too long, and does not contain the one sequence
/// (`tel:` after a phone context) that makes them panic.
pub(super) fn is_parseable(text: &str) -> bool {
    let is_short = text.len() <= MAX_INPUT_LENGTH || text.chars().nth(MAX_INPUT_LENGTH).is_none();
    is_short && !phone_context(text).is_some_and(|context| context.contains("tel:"))
}

/// The text starting at its phone context. Finds a semicolon first, since that is faster and few inputs contain one.
fn phone_context(text: &str) -> Option<&str> {
    let parameters = &text[text.find(';')?..];
    parameters.find(";phone-context=").map(|start| &parameters[start..])
}

/// Replaces a leading `011` or `00` with a plus sign; `None` if the text has neither.
///
/// The digits of the prefix must be adjacent: `(0)0…` is a trunk prefix and a number.
pub(super) fn without_international_prefix(text: &str) -> Option<String> {
    if phone_context(text).is_some() {
        return None;
    }
    let text = with_ascii_digits(text)?;
    // Google's rules also start at the first digit or plus sign.
    let number = text.trim_start_matches(|c: char| !c.is_numeric() && !is_plus(c));
    let rest = ["011", "00"].into_iter().find_map(|prefix| number.strip_prefix(prefix))?;
    rest.contains(|c: char| c.is_numeric()).then(|| format!("+{rest}"))
}

/// Converts every Unicode decimal digit to ASCII. `None` if the text contains any other numeral, such as a fraction,
/// which cannot be part of a phone number.
pub(super) fn with_ascii_digits(text: &str) -> Option<String> {
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

pub(super) fn is_plus(c: char) -> bool {
    matches!(c, '+' | '＋')
}

/// Returns `true` if people would call the character a letter. Unicode also counts two Japanese dashes and some
/// invisible characters as letters.
pub(super) fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_invisible(c) && !matches!(c, '\u{30fc}' | '\u{ff70}')
}

/// Returns `true` for what people write between the digits of one number: spaces, dashes, dots, middle dots, slashes
/// and parentheses.
pub(super) fn is_joiner(c: char) -> bool {
    let is_blank = c.is_whitespace() && c != '\t' && !is_line_break(c);
    is_blank || is_dash(c) || is_middle_dot(c) || "./()[]~（）．／［］～".contains(c)
}

/// Returns `true` for Unicode dashes (Pd) and characters that look like one.
fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'..='\u{2015}' | '\u{2043}'
        | '\u{2053}' | '\u{2212}' | '\u{223c}' | '\u{2e17}' | '\u{2e1a}' | '\u{2e3a}'..='\u{2e3b}' | '\u{2e40}'
        | '\u{2e5d}' | '\u{301c}' | '\u{3030}' | '\u{30a0}' | '\u{30fc}' | '\u{fe31}'..='\u{fe32}' | '\u{fe58}'
        | '\u{fe63}' | '\u{ff0d}' | '\u{ff70}' | '\u{10d6e}' | '\u{10ead}')
}

pub(super) fn is_middle_dot(c: char) -> bool {
    matches!(c, '·' | '•' | '‧' | '∙' | '⋅' | '・' | '･')
}

pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` if the character is invisible: `Default_Ignorable_Code_Point` in Unicode 17, and interlinear
/// annotations. Some of these are letters.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

pub(super) fn digit_count(text: &str) -> usize {
    text.chars().filter(|c| c.is_numeric()).count()
}
