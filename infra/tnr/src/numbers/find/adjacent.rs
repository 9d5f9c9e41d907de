//! Finds numbers next to other digits, as in `305 234 5678 12345`, which Google's rules read as one.

use std::ops::Range;

use formatting::{DefaultCountry, Leniency, RulesFailed, find_numbers};

use super::vanity::groups;

/// Text between two groups of digits in a number.
const SEPARATORS: [&[u8]; 10] = [b" ", b"  ", b"-", b".", b"/", b")", b") ", b")-", b" (", b"-("];
const MAX_GROUPS: usize = 6;
const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 15;

/// The positions in bytes of numbers grouped in the usual way. They may overlap. Skips digits that are one of the numbers
/// found before, which are in order.
pub fn find_adjacent_numbers(
    line: &[u8],
    country: DefaultCountry,
    found: &[Range<usize>],
) -> Result<Vec<Range<usize>>, RulesFailed> {
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
                if is_possible && is_number(&line[start..group.end], country)? {
                    numbers.push(start..group.end);
                }
            }
        }
    }
    Ok(numbers)
}

/// The start of a number including its sign and parenthesis.
fn number_start(line: &[u8], first_digit: usize) -> usize {
    let before = &line[..first_digit];
    let before = before.strip_suffix(b"(").unwrap_or(before);
    before.strip_suffix(b"+").unwrap_or(before).len()
}

fn is_number(text: &[u8], country: DefaultCountry) -> Result<bool, RulesFailed> {
    let text = str::from_utf8(text).unwrap_or_default();
    let mut numbers = find_numbers(text, country, Leniency::ExactGrouping);
    numbers.next().map_or(Ok(false), |number| Ok(number?.range == (0..text.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(line: &str, found: &[Range<usize>]) -> Vec<String> {
        let country = DefaultCountry::default();
        let found = find_adjacent_numbers(line.as_bytes(), country, found).unwrap();
        found.into_iter().map(|range| line[range].to_owned()).collect()
    }

    #[test]
    fn digits_that_are_not_grouped_like_a_number_are_left_out() {
        for text in [
            "12 34 56 78 90 12",
            "30 52 34 56 78",
            "305, 234, 5678",
            "305 234 567",
            "123 456 7890 12",
            "2026-11-24 10:30:00 1234567",
        ] {
            assert_eq!(find(text, &[]), [""; 0], "{text}");
        }
        let text = "305 234 5678 415 234 5678";
        let both = &["305 234 5678", "415 234 5678"][..];
        assert_eq!(find(text, &[]), both);
        for (found, expected) in
            [((0, 25), &[][..]), ((0, 26), &[]), ((0, 24), both), ((1, 25), both)]
        {
            let found = Range { start: found.0, end: found.1 };
            assert_eq!(find(text, std::slice::from_ref(&found)), expected);
        }
    }
}
