//! Two or more numbers in one text.

use rlibphonenumber::Region;

use super::{MIN_DIGITS, is_separator, one_number, read_valid};
use crate::{
    reading::{FoundNumber, Reading},
    text::{digit_count, is_joiner, is_letter, is_middle_dot, is_plus},
};

/// Words between a number and the last digits of a second one, in lowercase.
const CONJUNCTIONS: [&str; 8] = ["or", "and", "oder", "und", "ou", "et", "o", "y"];
type Split = fn(&str) -> Vec<&str>;

/// Separators between two numbers, strongest first. A part is split only by weaker ones.
const SPLITS: [Split; 9] = [
    |text| text.split(is_separator).collect(),
    |text| text.split(';').collect(),
    |text| text.split(',').collect(),
    |text| text.split(['/', '／']).collect(),
    |text| text.split(is_middle_dot).collect(),
    |text| text.split(" - ").flat_map(|part| part.split(" – ")).collect(),
    |text| text.split("  ").collect(),
    before_openings,
    at_only_space,
];

/// The two numbers in `305-234-5678/79` or `305-234-5678 or 5679`, where the second is shortened to its last
/// digits, or lacks an area code.
pub fn with_other_ending(text: &str, region: Region) -> Option<FoundNumber> {
    let (number, ending) = before_ending(text)?;
    let is_in_ending = |c: char| c.is_ascii_digit() || is_joiner(c);
    let digits: String = ending.chars().filter(char::is_ascii_digit).collect();
    if !matches!(digits.len(), 1..=4 | 7)
        || digit_count(number) < MIN_DIGITS
        || !ending.chars().all(is_in_ending)
        || (digits.len() == MIN_DIGITS && read_valid(ending, region).is_some())
    {
        return None;
    }
    let first = with_other_ending(number, region)
        .or_else(|| read_valid(number, region).map(FoundNumber::from))
        .filter(|first| first.reading.number.extension.is_none())?;
    let e164 = first.reading.e164_with_extension();
    let kept = &e164[..e164.len().checked_sub(digits.len())?];
    let second = read_valid(&format!("{kept}{digits}"), region)?.e164_with_extension();
    (second != e164).then_some(FoundNumber { other: first.other.or(Some(second)), ..first })
}

/// The text before and after its last slash or `or`.
fn before_ending(text: &str) -> Option<(&str, &str)> {
    let Some(last) = text.rfind(is_letter) else { return text.rsplit_once('/') };
    let (before, ending) = text.split_at(last + text[last..].chars().next()?.len_utf8());
    if ending.contains('/') {
        return text.rsplit_once('/');
    }
    let number = before.trim_end_matches(is_letter);
    CONJUNCTIONS.contains(&&*before[number.len()..].to_lowercase()).then_some((number, ending))
}

/// The valid numbers in the text, if it contains at least two and no other digits.
pub fn numbers(text: &str, region: Region) -> Option<Vec<Reading>> {
    split(text, &SPLITS, region)
}

fn split(text: &str, splits: &[Split], region: Region) -> Option<Vec<Reading>> {
    (1..=splits.len()).find_map(|weaker| {
        let parts = splits[weaker - 1](text);
        let parts = parts.into_iter().map(|part| (part, digit_count(part)));
        let parts: Vec<(&str, usize)> = parts.filter(|(_, digits)| *digits > 0).collect();
        if parts.len() < 2 || parts.iter().any(|(_, digits)| *digits < MIN_DIGITS) {
            return None;
        }
        let read = |(part, _)| match one_number(part, region) {
            Some(number) => Some(vec![number]),
            None => split(part, &splits[weaker..], region),
        };
        let numbers: Vec<Vec<Reading>> = parts.into_iter().map(read).collect::<Option<_>>()?;
        Some(numbers.into_iter().flatten().collect())
    })
}

/// Returns `true` if the text looks like a list of numbers. At least two entries may be numbers, and each
/// starts like the first (as local numbers do), or with a plus sign or zero.
pub fn is_list(text: &str) -> bool {
    let is_separator = |c| matches!(c, '/' | '／') || is_middle_dot(c);
    let entries = text.split(is_separator).filter(|entry| digit_count(entry) >= MIN_DIGITS);
    let mut first_characters =
        entries.filter_map(|entry| entry.chars().find(|&c| c.is_numeric() || is_plus(c)));
    let (Some(first), Some(second)) = (first_characters.next(), first_characters.next()) else {
        return false;
    };
    let starts_number = |c: char| c == first || c == '0' || is_plus(c);
    starts_number(second) && first_characters.all(starts_number)
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
