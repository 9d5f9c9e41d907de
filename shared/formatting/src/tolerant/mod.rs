//! Parses phone numbers in text that Google's rules reject. Ignores all punctuation, spacing and words.
//!
//! No digit is dropped, invented, or joined to others across a word. Each digit in the text belongs to the
//! number, to its extension, or to a second valid number.

mod lookalikes;
#[cfg(test)]
mod search;
#[cfg(test)]
mod tests;

use rlibphonenumber::Region;

use super::{
    number_type::NumberType,
    reading::{FoundNumber, Reading, read_with_prefixes},
    text::{digit_count, is_invisible, is_letter, is_line_break, is_plus, with_ascii_digits},
};

/// The minimum number of digits in a phone number next to words or another number.
const MIN_DIGITS: usize = 7;
/// The minimum number of digits that can touch a word without being part of it.
const MIN_TOUCHING_DIGITS: usize = 3;

/// Replaces a word. Digits are not joined across it.
const WORD: char = '\u{1}';

/// Characters that separate a number from a note with digits, and never occur inside a number.
const NOTE_SEPARATORS: [char; 14] =
    [';', '|', ',', ':', '=', '&', '\n', '\r', '\t', '；', '｜', '，', '：', '＆'];

/// Precedes an extension.
const EXTENSION: &str = " ext ";

/// The characters to keep in each of three attempts, since they may start an extension. A hash sign is more likely
/// to do so than a comma or semicolon, which also separate digit groups.
const EXTENSION_MARKERS: [&[char]; 3] = [&['#', '＃'], &['#', '＃', ',', ';'], &[]];

/// Words before an extension, in lowercase: from Google's rules, and in Canadian French, Spanish, Portuguese,
/// Dutch and Polish.
const EXTENSION_WORDS: &str = "\
    x xt xtn ext extn extension extensión int anexo доб poste interno ramal toestel wewn";

/// Splits text between two numbers.
type Split = fn(&str) -> Vec<&str>;

/// Separators that are common between two numbers and rare inside one, strongest first. A part is split only by
/// weaker ones.
const SPLITS: [Split; 9] = [
    |text| text.split(is_line_break).collect(),
    |text| text.split([';', '|', '；', '｜']).collect(),
    |text| text.split(WORD).collect(),
    |text| text.split(['/', '\\', '&', '／', '＆']).collect(),
    |text| text.split([',', '，', '、', '،', '•', '·', '・', '\t']).collect(),
    |text| text.split(" - ").flat_map(|part| part.split(" – ")).collect(),
    |text| text.split("  ").collect(),
    before_openings,
    at_only_space,
];

/// The valid number in text that Google's rules reject, and a second one if the text contains two.
pub(super) fn read(text: &str, region: Region) -> Option<FoundNumber> {
    let text = with_ascii_digits(text)?;
    if let Some(number) = whole_number(&text) {
        return read_valid(&number, region).map(FoundNumber::from);
    }
    if !needs_tolerance(&text) || lookalikes::is_lookalike(&text) {
        return None;
    }
    if let Some((number, context)) = text.split_once(";phone-context=") {
        let number = number.split_once("tel:").map_or(number, |(_, number)| number);
        let number = with_spaces(number, &[]);
        return read_valid(&format!("tel:{number};phone-context={context}"), region)
            .map(FoundNumber::from);
    }
    let bare = without_words(&text)?;
    let whole = one_number(&bare, region);
    if (whole.is_none() || is_list(&bare))
        && let Some(numbers) = numbers(&bare, &SPLITS, region)
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
/// floats have lost digits, so they are not numbers.
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
        if is_before_extension(&bare, word, after) {
            bare.push_str(EXTENSION);
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
        rest = after;
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

/// The only valid number in text without words.
fn one_number(bare: &str, region: Region) -> Option<Reading> {
    let mut parts = bare.split(WORD).filter(|part| digit_count(part) > 0);
    let (Some(part), None) = (parts.next(), parts.next()) else { return None };
    if bare.contains(WORD) && (digit_count(part) < MIN_DIGITS || has_note(part)) {
        return None;
    }
    let (number, extension) = part.split_once(EXTENSION).unwrap_or((part, ""));
    if extension.contains(EXTENSION) {
        return None;
    }
    let valid = EXTENSION_MARKERS.iter().find_map(|it| read_valid(&with_spaces(part, it), region));
    // The label's letters must not be read as keypad digits.
    valid.filter(|reading| {
        let digits = reading.number.extension.as_ref().map_or(0, String::len);
        number.len() == part.len() || digits == digit_count(extension)
    })
}

/// Returns `true` if a part next to words has digits that belong to the words: digits after a separator, or in a
/// parenthesis closed by a word.
fn has_note(part: &str) -> bool {
    let number = part.split(EXTENSION).next().unwrap_or_default();
    let (first, last) = (number.find(char::is_numeric), number.rfind(char::is_numeric));
    let Some((first, last)) = first.zip(last) else { return true };
    let within = &number[first..last];
    let opened = number.matches(['(', '[']).count();
    let is_open = opened > number.matches([')', ']']).count()
        && number.rfind(['(', '[']).is_some_and(|opening| opening < last);
    within.contains(NOTE_SEPARATORS) || is_open
}

/// The valid numbers in the text, if it contains at least two and no other digits.
fn numbers(text: &str, splits: &[Split], region: Region) -> Option<Vec<Reading>> {
    (1..=splits.len()).find_map(|weaker| {
        let parts = splits[weaker - 1](text);
        let parts = parts.into_iter().map(|part| (part, digit_count(part)));
        let parts: Vec<(&str, usize)> = parts.filter(|(_, digits)| *digits > 0).collect();
        if parts.len() < 2 || parts.iter().any(|(_, digits)| *digits < MIN_DIGITS) {
            return None;
        }
        let read = |(part, _)| match one_number(part, region) {
            Some(number) => Some(vec![number]),
            None => numbers(part, &splits[weaker..], region),
        };
        let numbers: Vec<Vec<Reading>> = parts.into_iter().map(read).collect::<Option<_>>()?;
        Some(numbers.into_iter().flatten().collect())
    })
}

/// Returns `true` if the text looks like a list of numbers: at least two lines or entries may be numbers, and
/// each starts like the first, as local numbers do, or with a plus sign or zero.
fn is_list(text: &str) -> bool {
    let is_separator = |c: char| is_line_break(c) || ";|/\\&,•·:_\t；｜／＆，、،".contains(c);
    let entries = text.split(is_separator).filter(|entry| digit_count(entry) >= MIN_DIGITS);
    let mut first_characters =
        entries.filter_map(|entry| entry.chars().find(|&c| c.is_numeric() || is_plus(c)));
    let (Some(first), Some(second)) = (first_characters.next(), first_characters.next()) else {
        return false;
    };
    let starts_number = |c: char| c == first || c == '0' || is_plus(c);
    starts_number(second) && first_characters.all(starts_number)
}

/// A service number spelled in keypad letters, such as `1_800_FLOWERS`. Words next to any other number are just words.
fn vanity_number(text: &str, region: Region) -> Option<Reading> {
    let mut characters = text.chars().zip(text.chars().skip(1));
    let touches =
        |(a, b): (char, char)| (is_letter(a) && b.is_numeric()) || (a.is_numeric() && is_letter(b));
    let is_vanity = !text.contains(NOTE_SEPARATORS) && !characters.any(touches);
    let reading = is_vanity.then(|| read_valid(&with_spaces(text, &[]), region))??;
    let has_letters = reading.digit_count() > digit_count(text) + 1;
    let is_service = reading.number_type.is_some_and(NumberType::is_service);
    (has_letters && is_service).then_some(reading)
}

/// Replaces separators with spaces, and removes invisible characters.
fn with_spaces(text: &str, extension_markers: &[char]) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c));
    let is_kept =
        |c: char| is_letter(c) || c.is_numeric() || is_plus(c) || extension_markers.contains(&c);
    visible.map(|c| if is_kept(c) { c } else { ' ' }).collect()
}

/// Splits before each plus sign or parenthesis that follows a digit, since these start a number.
fn before_openings(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut has_digit) = (0, false);
    for (position, c) in text.char_indices() {
        if has_digit && (is_plus(c) || c == '(') {
            parts.push(&text[start..position]);
            (start, has_digit) = (position, false);
        }
        has_digit |= c.is_numeric();
    }
    parts.push(&text[start..]);
    parts
}

/// Splits text at its only space, as in `3052345678 2122345678`. Two halves of eight digits are more likely a
/// payment card.
fn at_only_space(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split_whitespace().collect();
    if parts.len() == 2 && parts.iter().all(|part| digit_count(part) > 8) {
        parts
    } else {
        vec![text]
    }
}
