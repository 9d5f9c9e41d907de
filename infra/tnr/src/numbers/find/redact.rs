//! Masks numbers in text. Covers adjacent ones such as `305 234 5678 12345`, which Google's rules read as one.

use std::ops::Range;

use formatting::{DefaultCountry, Leniency, RulesError, find_numbers};

use super::{
    Found, find_in_line,
    vanity::{find_vanity_numbers, groups},
};

const MASK: &[u8] = b"*";
/// The replacement for vanity numbers when searching for other numbers.
const NOT_IN_NUMBERS: u8 = b'|';

/// Masks the digits of a line's numbers, and counts them. If no strictness is set, masks everything that may be a
/// number, including the letters and digits of vanity numbers.
pub fn redact(
    line: &[u8],
    country: DefaultCountry,
    leniency: Option<Leniency>,
) -> Result<(Vec<u8>, usize), RulesError> {
    let find = |line: &[u8], leniency| {
        let found = find_in_line(line, country, leniency)?;
        let ranges = found.iter().map(|Found { start, tn, .. }| *start..start + tn.len());
        Ok(ranges.collect::<Vec<_>>())
    };
    if let Some(leniency) = leniency {
        return Ok(mask(line, find(line, leniency)?, Vec::new()));
    }
    let vanity_numbers = find_vanity_numbers(line, country);
    let mut others = line.to_vec();
    for range in &vanity_numbers {
        others[range.clone()].fill(NOT_IN_NUMBERS);
    }
    let mut numbers = find(&others, Leniency::Possible)?;
    numbers.extend(find_adjacent_numbers(&others, country, &numbers)?);
    if !vanity_numbers.is_empty() {
        // A vanity number may start with the last digits of another number, as in `… 53 00 1 800 FLOWERS`.
        numbers.extend(find_adjacent_numbers(line, country, &[])?);
    }
    Ok(mask(line, numbers, vanity_numbers))
}

/// Masks the digits of numbers, and the letters and digits of vanity numbers. The ranges may overlap.
fn mask(
    line: &[u8],
    numbers: Vec<Range<usize>>,
    vanity_numbers: Vec<Range<usize>>,
) -> (Vec<u8>, usize) {
    type IsMasked = fn(char) -> bool;
    let numbers = numbers.into_iter().map(|range| (range, char::is_numeric as IsMasked));
    let vanity_numbers =
        vanity_numbers.into_iter().map(|range| (range, char::is_alphanumeric as IsMasked));
    let mut ranges: Vec<_> = numbers.chain(vanity_numbers).collect();
    ranges.sort_by_key(|(range, _)| range.start);
    let (mut text, mut end, mut count) = (Vec::with_capacity(line.len()), 0, 0);
    for (range, is_masked) in ranges {
        count += usize::from(range.start >= end);
        text.extend_from_slice(line.get(end..range.start).unwrap_or_default());
        // The search only finds numbers in valid UTF-8.
        let rest = line.get(range.start.max(end)..range.end).unwrap_or_default();
        for character in String::from_utf8_lossy(rest).chars() {
            let bytes = &mut [0; 4];
            let masked =
                if is_masked(character) { MASK } else { character.encode_utf8(bytes).as_bytes() };
            text.extend_from_slice(masked);
        }
        end = range.end.max(end);
    }
    text.extend_from_slice(&line[end..]);
    (text, count)
}

const SEPARATORS: [&[u8]; 10] = [b" ", b"  ", b"-", b".", b"/", b")", b") ", b")-", b" (", b"-("];
const MAX_GROUPS: usize = 6;
const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 15;

/// The byte ranges of numbers in the usual grouping. They may overlap. Skips digits that are exactly one of the numbers
/// found before, which must be sorted.
fn find_adjacent_numbers(
    line: &[u8],
    country: DefaultCountry,
    found: &[Range<usize>],
) -> Result<Vec<Range<usize>>, RulesError> {
    let mut numbers = Vec::new();
    let groups = groups(line, u8::is_ascii_digit);
    for run in groups.chunk_by(|group, next| SEPARATORS.contains(&&line[group.end..next.start])) {
        let (start, end) = (run[0].start, run[run.len() - 1].end);
        let next = found.partition_point(|number| number.end < end);
        if found.get(next).is_some_and(|number| number.start <= start) {
            continue;
        }
        for (index, first) in run.iter().enumerate() {
            let start = number_start(line, first.start);
            let mut digits = 0;
            for group in run[index..].iter().take(MAX_GROUPS) {
                digits += group.len();
                let is_possible = (MIN_DIGITS..=MAX_DIGITS).contains(&digits);
                if is_possible && is_grouped_number(&line[start..group.end], country)? {
                    numbers.push(start..group.end);
                }
            }
        }
    }
    Ok(numbers)
}

fn number_start(line: &[u8], first_digit: usize) -> usize {
    let before = &line[..first_digit];
    let before = before.strip_suffix(b"(").unwrap_or(before);
    before.strip_suffix(b"+").unwrap_or(before).len()
}

fn is_grouped_number(text: &[u8], country: DefaultCountry) -> Result<bool, RulesError> {
    let text = str::from_utf8(text).unwrap_or_default();
    let mut numbers = find_numbers(text, country, Leniency::ExactGrouping);
    numbers.next().map_or(Ok(false), |number| Ok(number?.range == (0..text.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_numbers_are_masked_once() {
        let mask = |numbers: Vec<(usize, usize)>, vanity: Option<Range<usize>>| {
            let vanity = vanity.into_iter().collect();
            let (text, count) = mask(
                b"1a2b3c4d",
                numbers.into_iter().map(|(start, end)| start..end).collect(),
                vanity,
            );
            (String::from_utf8(text).unwrap(), count)
        };
        assert_eq!(mask(vec![(0, 3), (2, 5), (4, 5)], None), ("*a*b*c4d".to_owned(), 1));
        assert_eq!(mask(vec![(2, 5)], Some(0..4)), ("*****c4d".to_owned(), 1));
        assert_eq!(mask(vec![(0, 3)], Some(1..8)), ("*a******".to_owned(), 1));
        assert_eq!(mask(vec![(4, 5), (0, 1)], Some(2..4)), ("*a***c4d".to_owned(), 3));
    }

    #[test]
    fn numbers_next_to_digits_and_vanity_numbers_are_fully_masked() {
        const OTHER_TEXT: &str =
            "12345|1|2026-11-24|100.00|1234567890123|305 234 5678|1 800 FLOWERS";
        const NUMBERS: &str = "305 234 5678|(305) 234-5678|305-234-5678|305.234.5678|3052345678|+1 305 234 5678|\
                               +44 20 7946 0958|+33 1 42 68 53 00|1-800-FLOWERS";
        let masked = |text: &str| text.replace(|c: char| c.is_alphanumeric(), "*");
        let redact = |text: &str| {
            let redacted = redact(text.as_bytes(), DefaultCountry::default(), None).unwrap().0;
            String::from_utf8(redacted).unwrap()
        };
        let pairs =
            NUMBERS.split('|').flat_map(|it| OTHER_TEXT.split('|').map(move |other| (it, other)));
        for (number, other) in pairs {
            for separator in [" ", "  ", " - ", "/", "(", ": "] {
                let last = redact(&format!("{other}{separator}{number}"));
                assert!(last.ends_with(&masked(number)), "{other}{separator}{number}: {last}");
                let first = redact(&format!("{number}{separator}{other}"));
                assert!(first.starts_with(&masked(number)), "{number}{separator}{other}: {first}");
            }
        }
    }

    fn adjacent(line: &str, found: &[Range<usize>]) -> Vec<String> {
        let country = DefaultCountry::default();
        let found = find_adjacent_numbers(line.as_bytes(), country, found).unwrap();
        found.into_iter().map(|range| line[range].to_owned()).collect()
    }

    #[test]
    fn digits_not_grouped_like_a_number_are_skipped() {
        for text in [
            "12 34 56 78 90 12",
            "30 52 34 56 78",
            "305, 234, 5678",
            "305 234 567",
            "123 456 7890 12",
            "2026-11-24 10:30:00 1234567",
        ] {
            assert_eq!(adjacent(text, &[]), [""; 0], "{text}");
        }
        let text = "305 234 5678 415 234 5678";
        let both = &["305 234 5678", "415 234 5678"][..];
        assert_eq!(adjacent(text, &[]), both);
        for (found, expected) in
            [((0, 25), &[][..]), ((0, 26), &[]), ((0, 24), both), ((1, 25), both)]
        {
            let found = Range { start: found.0, end: found.1 };
            assert_eq!(adjacent(text, std::slice::from_ref(&found)), expected);
        }
    }
}
