//! Finds vanity numbers such as `1-800-FLOWERS`, which Google's rules do not find in text.

use std::ops::Range;

use formatting::{DefaultCountry, NumberType, PhoneNumber};

/// Separators between two groups in a number. The tight ones also join lowercase words.
const TIGHT_SEPARATORS: [&[u8]; 3] = [b"-", b".", b")-"];
const LOOSE_SEPARATORS: [&[u8]; 6] = [b" ", b")", b") ", b" (", b"-(", b" - "];
/// Characters after which a number cannot start, as in `www.1800flowers.com`.
const JOINERS: &[u8] = b"-._@";

const MAX_GROUPS: usize = 8;
/// The minimum number of letters in a word. Part numbers have fewer.
const MIN_WORD_LENGTH: usize = 3;
/// The minimum number of digits before the first letter: an area code, or a prefix and an area code.
const MIN_DIGITS: usize = 3;
const MIN_DIGITS_WITH_PREFIX: usize = 4;
/// The maximum number of letters that need not be dialed, as in `1-800-MATTRESS`.
const MAX_SURPLUS: usize = 4;

/// The keypad digits for the letters A to Z.
const KEYPAD: &[u8; 26] = b"22233344455566677778889999";

pub fn find_vanity_numbers(line: &[u8], country: DefaultCountry) -> Vec<Range<usize>> {
    let groups = groups(line, u8::is_ascii_alphanumeric);
    let (mut found, mut next) = (Vec::new(), 0);
    while next < groups.len() {
        match last_group(line, &groups[next..], country) {
            Some(last) if starts_number(line, &groups, next) => {
                found.push(groups[next].start..groups[next + last].end);
                next += last;
            }
            _ => (),
        }
        next += 1;
    }
    found
}

/// The longest runs of consecutive bytes for which `belongs` returns `true`.
pub fn groups(line: &[u8], belongs: fn(&u8) -> bool) -> Vec<Range<usize>> {
    let mut start = 0;
    let pieces = line.split(|byte| !belongs(byte)).map(|piece| {
        let group = start..start + piece.len();
        start = group.end + 1;
        group
    });
    pieces.filter(|group| !group.is_empty()).collect()
}

/// Returns `true` unless the group is part of a longer word.
fn starts_number(line: &[u8], groups: &[Range<usize>], index: usize) -> bool {
    let end = index.checked_sub(1).map_or(0, |previous| groups[previous].end);
    let before = &line[end..groups[index].start];
    index == 0 || !before.iter().all(|byte| JOINERS.contains(byte))
}

/// The index of the last group in the vanity number that starts with the first group.
fn last_group(line: &[u8], groups: &[Range<usize>], country: DefaultCountry) -> Option<usize> {
    let first = groups.first()?;
    let mut candidate =
        Candidate { has_plus: line[..first.start].ends_with(b"+"), ..Candidate::default() };
    let mut separator = TIGHT_SEPARATORS[0];
    for (index, group) in groups.iter().take(MAX_GROUPS).enumerate() {
        if !candidate.add(separator, &line[group.clone()]) {
            return None;
        }
        if candidate.is_vanity_number(country) {
            return Some(index);
        }
        separator = &line[group.end..groups.get(index + 1)?.start];
    }
    None
}

#[derive(Debug, Default)]
struct Candidate {
    dialed: String,
    has_plus: bool,
    has_parenthesis: bool,
    /// The number of digits before the first letter, and the groups that start with them.
    digits: usize,
    digit_groups: usize,
    has_letters: bool,
    has_lowercase: bool,
    longest_word: usize,
    last_group: usize,
    /// `true` if a word comes after a space.
    is_loose: bool,
}

impl Candidate {
    /// Adds a group and the separator before it. Returns `false` if it cannot be part of a vanity number.
    fn add(&mut self, separator: &[u8], group: &[u8]) -> bool {
        let is_tight = TIGHT_SEPARATORS.contains(&separator);
        let digits = group.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_apart = !is_tight && self.has_letters && digits > 0;
        if is_apart || !is_tight && !LOOSE_SEPARATORS.contains(&separator) {
            return false;
        }
        if !self.has_letters {
            self.digits += digits;
            self.digit_groups += usize::from(digits > 0);
        }
        self.has_letters |= digits < group.len();
        self.has_lowercase |= group.iter().any(u8::is_ascii_lowercase);
        self.has_parenthesis |= separator.contains(&b')');
        self.is_loose |= self.has_letters && !is_tight;
        let words = group.split(u8::is_ascii_digit).map(<[u8]>::len);
        self.longest_word = words.fold(self.longest_word, usize::max);
        self.last_group = group.len();
        self.dialed.extend(group.iter().map(|byte| dialed_digit(*byte)));
        !self.has_letters || self.digits >= MIN_DIGITS
    }

    fn is_vanity_number(&self, country: DefaultCountry) -> bool {
        if self.longest_word < MIN_WORD_LENGTH || !self.has_plausible_notation() {
            return false;
        }
        let mut surplus = 0..=MAX_SURPLUS.min(self.last_group - 1);
        surplus.any(|surplus| {
            self.is_valid_vanity_number(&self.dialed[..self.dialed.len() - surplus], country)
        })
    }

    /// Returns `false` for text such as `800 members`, `1800-calorie` and `IN 800 STORES`.
    fn has_plausible_notation(&self) -> bool {
        let has_prefix =
            self.has_plus || self.has_parenthesis || self.digits >= MIN_DIGITS_WITH_PREFIX;
        match (self.has_lowercase, self.is_loose) {
            (false, false) => true,
            (false, true) => has_prefix,
            (true, false) => self.has_plus || self.digit_groups > 1,
            (true, true) => false,
        }
    }

    /// Only toll-free and similar numbers are commonly vanity numbers.
    fn is_valid_vanity_number(&self, dialed: &str, country: DefaultCountry) -> bool {
        let plus = if self.has_plus { "+" } else { "" };
        let number = PhoneNumber::parse(&format!("{plus}{dialed}"), country);
        let Some(number) = number.filter(|number| number.valid) else { return false };
        let is_service = matches!(
            number.number_type,
            Some(
                NumberType::TollFree
                    | NumberType::PremiumRate
                    | NumberType::SharedCost
                    | NumberType::Uan
            )
        );
        is_service || !(self.has_lowercase || self.is_loose)
    }
}

/// The keypad digit for a letter.
fn dialed_digit(character: u8) -> char {
    char::from(match character.to_ascii_uppercase() {
        letter @ b'A'..=b'Z' => KEYPAD[usize::from(letter - b'A')],
        digit => digit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(line: &str, country: &str) -> Vec<String> {
        let found = find_vanity_numbers(line.as_bytes(), country.parse().unwrap());
        found.into_iter().map(|range| line[range].to_owned()).collect()
    }

    #[test]
    fn vanity_numbers_are_found_only_in_usual_notations() {
        let (numbers, others) = include_str!("vanity.txt").split_once("\n\n").unwrap();
        for row in numbers.lines().skip(1) {
            let (country, number) = row.split_once(' ').unwrap();
            let expected = [number.trim_start_matches(['(', '+'])];
            for text in [number.to_owned(), format!("é: {number}, 12"), format!("tel={number}.\n")]
            {
                assert_eq!(find(&text, country), expected, "{country}: {text}");
            }
        }
        for text in others.lines() {
            assert_eq!(find(text, "US"), [""; 0], "{text}");
        }
    }

    #[test]
    fn several_vanity_numbers_in_a_line_are_found() {
        let text = "12 people called 1-800-FLOWERS,1-800-GO-FEDEX;800-FLOWERS NOW";
        assert_eq!(find(text, "US"), ["1-800-FLOWERS", "1-800-GO-FEDEX", "800-FLOWERS"]);
    }
}
