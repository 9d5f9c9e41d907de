//! Parses phone numbers in text that Google's rules reject: in phone system notations, with words around them, or
//! with separators that the rules do not support.
//!
//! No digit is dropped or invented. Digits are not joined across words or other text that never occurs inside a number.
//! Each digit in the text belongs to the number, to its extension, or to a second valid number, unless its notation
//! assigns it another meaning.

mod lookalikes;
mod telephony;
#[cfg(test)]
mod tests;
mod two_numbers;

use rlibphonenumber::Region;

use super::{
    number_type::NumberType,
    reading::{FoundNumber, Reading, read_with_prefixes},
    text::{digit_count, is_invisible, is_joiner, is_letter, is_plus, with_ascii_digits},
};
use lookalikes::is_lookalike;
pub(super) use telephony::read_certain;
use two_numbers::{is_list, numbers, with_other_ending};

/// The minimum number of digits in a phone number that is next to words or another number.
const MIN_DIGITS: usize = 7;
/// The minimum number of digits that can touch a word without belonging to it.
const MIN_TOUCHING_DIGITS: usize = 3;

/// The stand-in for a word. Digits are not joined across it.
const WORD: char = '\u{1}';

/// The text before an extension.
const EXTENSION: &str = " ext ";

/// Characters that may start an extension.
const EXTENSION_MARKERS: [char; 4] = ['#', '＃', ',', ';'];

/// Words before an extension, in lowercase: from Google's rules, in Canadian French, Spanish, Portuguese, Dutch and
/// Polish, and for menu options.
const EXTENSION_WORDS: &str = "\
    x xt xtn ext extn extension extensión int anexo доб poste interno ramal toestel wewn opt option press";

/// The rows of a table of regular expressions, with the names of shared parts replaced by the parts.
fn notations<'a>(
    table: &'a str,
    parts: &'a [(&str, &str)],
) -> impl Iterator<Item = String> + use<'a> {
    let rows = table.lines().filter(|row| !row.is_empty() && !row.starts_with("# "));
    rows.map(|row| {
        let replace = |row: String, (part, pattern): &(&str, &str)| row.replace(part, pattern);
        parts.iter().fold(row.to_owned(), replace)
    })
}

/// The valid number in text that Google's rules reject, and a second one if the text contains two.
pub(super) fn read(text: &str, region: Region) -> Option<FoundNumber> {
    let text = with_ascii_digits(text)?;
    if let Some(number) = whole_number(&text) {
        return read_valid(&number, region).map(FoundNumber::from);
    }
    if let Some(found) = telephony::read(&text, region) {
        return Some(found);
    }
    if let Some(found) = with_other_ending(&text, region) {
        return (!is_lookalike(&text)).then_some(found);
    }
    if !needs_tolerance(&text) || is_lookalike(&text) {
        return None;
    }
    if let Some((number, context)) = text.split_once(";phone-context=") {
        let number = number.split_once("tel:").map_or(number, |(_, number)| number);
        let number = with_spaces(number);
        return read_valid(&format!("tel:{number};phone-context={context}"), region)
            .map(FoundNumber::from);
    }
    let bare = without_words(&text)?;
    let whole = one_number(&bare, region);
    if (whole.is_none() || is_list(&bare))
        && let Some(numbers) = numbers(&bare, region)
    {
        return FoundNumber::from_numbers(numbers);
    }
    whole.or_else(|| vanity_number(&text, region)).map(FoundNumber::from)
}

/// Returns `true` if a valid reading mistakes a second number for an extension, as the rules do in
/// `305 234 5678; 212 234 5678`. A word or the pause `,,` introduces a real extension.
pub(super) fn hides_second_number(text: &str, reading: &Reading, region: Region) -> bool {
    let Some(extension) = &reading.number.extension else { return false };
    if extension.len() < MIN_DIGITS
        || !read_with_prefixes(extension, region).is_some_and(|number| number.is_valid())
    {
        return false;
    }
    let text = with_ascii_digits(text).unwrap_or_default();
    let before = text.rfind(extension.as_str()).map_or("", |start| &text[..start]);
    let is_announced = before.trim_end().ends_with(",,")
        || before.trim_end_matches(|c: char| !c.is_alphanumeric()).ends_with(is_letter);
    !is_announced
}

fn read_valid(text: &str, region: Region) -> Option<Reading> {
    let reading = read_with_prefixes(text, region).filter(Reading::is_valid)?;
    (!hides_second_number(text, &reading, region)).then_some(reading)
}

/// The digits of a number that a program wrote as a float, such as `2127364412.0` or `2.127364412E9`. Rounded
/// floats have lost digits, so they do not count.
fn whole_number(text: &str) -> Option<String> {
    let text = text.trim();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: usize = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (more, rest) = fraction.split_at_checked(exponent)?;
    let is_whole = rest.bytes().all(|digit| digit == b'0');
    let digits = format!("{}{more}", whole.strip_prefix('+').unwrap_or(whole));
    let is_number = digits.len() >= MIN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_whole && is_number && whole != text).then(|| format!("{whole}{more}"))
}

/// Returns `true` if the text contains something that Google's rules cannot read, or enough digits for two numbers.
fn needs_tolerance(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_digit() || " +-./()".contains(c);
    digit_count(text) >= 2 * MIN_DIGITS || !text.chars().all(is_plain)
}

/// Replaces each word with [`WORD`], and each word before an extension with [`EXTENSION`]. `None` if a word
/// contains digits, as in `2nd`, `24h` and hexadecimal.
fn without_words(text: &str) -> Option<String> {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        let (before, from_word) = rest.split_at(start);
        let end = from_word.find(|c| !is_letter(c)).unwrap_or(from_word.len());
        let (word, after) = from_word.split_at(end);
        bare.push_str(before);
        rest = after;
        if is_before_extension(&bare, word, after) {
            let is_punctuation = |c: char| !c.is_alphanumeric();
            bare.truncate(bare.trim_end_matches(|c| is_punctuation(c) && c != ')').len());
            bare.push_str(EXTENSION);
            rest = after.trim_start_matches(is_punctuation);
        } else {
            let is_digit = |c: &char| c.is_numeric();
            let digits_before = bare.chars().rev().take_while(is_digit).count();
            let digits = digits_before.max(after.chars().take_while(is_digit).count());
            let is_hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit());
            if (1..MIN_TOUCHING_DIGITS).contains(&digits) || (digits > 0 && is_hexadecimal) {
                return None;
            }
            bare.push(WORD);
        }
    }
    bare.push_str(rest);
    Some(bare)
}

fn is_before_extension(before: &str, word: &str, after: &str) -> bool {
    let number = before.rsplit(WORD).next().unwrap_or_default();
    let word = word.to_lowercase();
    EXTENSION_WORDS.split(' ').any(|known| known == word)
        && digit_count(number) >= MIN_DIGITS
        && after.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_numeric)
}

/// The number in text whose words have been replaced, if it is valid and the only one.
fn one_number(bare: &str, region: Region) -> Option<Reading> {
    let has_words = bare.contains(WORD);
    // Next to words, a comma or semicolon is more likely to start a note than an extension.
    let is_separator = |c| is_separator(c) || (has_words && matches!(c, ',' | ';'));
    let mut parts = bare.split(is_separator).filter(|part| digit_count(part) > 0);
    let (Some(part), None) = (parts.next(), parts.next()) else { return None };
    if has_words && (digit_count(part) < MIN_DIGITS || ends_in_parenthesis(part)) {
        return None;
    }
    let (number, extension) = part.split_once(EXTENSION).unwrap_or((part, ""));
    if extension.contains(EXTENSION) {
        return None;
    }
    // Letters in the label must not be read as keypad digits.
    read_valid(&with_spaces(part), region).filter(|reading| {
        let digits = reading.number.extension.as_ref().map_or(0, String::len);
        number.len() == part.len() || digits == digit_count(extension)
    })
}

/// Returns `true` if the last digits are in parentheses that end with a word, and so belong to the word.
fn ends_in_parenthesis(part: &str) -> bool {
    let number = part.split(EXTENSION).next().unwrap_or_default();
    let Some(last) = number.rfind(char::is_numeric) else { return true };
    number.matches(['(', '[']).count() > number.matches([')', ']']).count()
        && number.rfind(['(', '[']).is_some_and(|opening| opening < last)
}

/// A service number spelled in keypad letters, such as `1_800_FLOWERS`. Next to any other number, words are just words.
fn vanity_number(text: &str, region: Region) -> Option<Reading> {
    let mut characters = text.chars().zip(text.chars().skip(1));
    let touches =
        |(a, b): (char, char)| (is_letter(a) && b.is_numeric()) || (a.is_numeric() && is_letter(b));
    let is_vanity =
        !text.contains(is_separator) && !text.contains([',', ';']) && !characters.any(touches);
    let reading = is_vanity.then(|| read_valid(&with_spaces(text), region))??;
    let has_letters = reading.digit_count() > digit_count(text) + 1;
    let is_service = reading.number_type.is_some_and(NumberType::is_service);
    (has_letters && is_service).then_some(reading)
}

/// Replaces joiners with spaces, and removes invisible characters and anything before or after the digits.
fn with_spaces(text: &str) -> String {
    let is_outside = |c: char| !c.is_alphanumeric() && !is_plus(c);
    let visible = text.trim_matches(is_outside).chars().filter(|&c| !is_invisible(c));
    visible.map(|c| if is_joiner(c) { ' ' } else { c }).collect()
}

/// Returns `true` for characters that are never inside a number.
fn is_separator(c: char) -> bool {
    !c.is_numeric()
        && !is_letter(c)
        && !is_plus(c)
        && !is_joiner(c)
        && !is_invisible(c)
        && !EXTENSION_MARKERS.contains(&c)
}
