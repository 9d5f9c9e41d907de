//! Masked digits, such as `305-234-XXXX` or `+1 305 *** 5678`. Google's rules read an X as the keypad's 9, and skip
//! asterisks, so both produce numbers that nobody wrote.

use std::{iter, ops::Range};

use rlibphonenumber::Region;

use super::{
    reading::Reading,
    text::{MAX_INPUT_LENGTH, is_joiner, is_letter},
};

/// Returns `true` for a character that replaces a digit if several come in a row.
fn is_mask(c: char) -> bool {
    is_letter_mask(c) || matches!(c, '*' | '＊' | '•' | '●')
}

fn is_letter_mask(c: char) -> bool {
    matches!(c, 'x' | 'X' | 'ｘ' | 'Ｘ')
}

/// Returns `true` if the text has two masks in a row that are not part of a word. Next to other words, masks must
/// follow a digit, so that names such as `Vin XX` are words.
pub(super) fn has_mask(text: &str) -> bool {
    // Rules out most text quickly.
    let could_be_mask = |byte: &u8| !byte.is_ascii() || b"xX*".contains(byte);
    if text.as_bytes().iter().filter(|byte| could_be_mask(byte)).nth(1).is_none() {
        return false;
    }
    let text = without_emphasis(text);
    let has_words = text.chars().any(|c| is_letter(c) && !is_letter_mask(c));
    runs(text).any(|run| {
        let before = text[..run.start].trim_end_matches(|c| is_joiner(c) || is_mask(c));
        is_alone(text, &run) && (!has_words || before.ends_with(char::is_numeric))
    })
}

/// Returns `true` if the masks are Google's own notation: the two Xs before an extension, as in
/// `020 7946 0958xx12`, or the Xs for a carrier code in Brazil, as in `(0xx11) 3456-7890`.
pub(super) fn are_notation(text: &str, reading: &Reading, region: Region) -> bool {
    let mut runs = runs(text);
    let (Some(run), None) = (runs.next(), runs.next()) else { return false };
    if !text[run.clone()].chars().all(is_letter_mask) || text[run.clone()].chars().count() != 2 {
        return false;
    }
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let after = digits(&text[run.end..]);
    if !reading.is_valid() {
        return false;
    }
    if reading.number.extension.as_ref() == Some(&after) {
        let filled = [&text[..run.start], "55", &text[run.end..]].concat();
        return !is_possible(&filled, region);
    }
    reading.number.country_code == 55
        && reading.national_number == after
        && digits(&text[..run.start]).ends_with('0')
}

/// Returns `true` if masks continue a number found in text, as in `030 2345 ****`.
pub(super) fn complete_number(text: &str, number: &Range<usize>, region: Region) -> bool {
    let (before, after) = (&text[..number.start], &text[number.end..]);
    let is_emphasized = before.ends_with('*') && after.starts_with('*');
    let [before, after] = [adjacent(before.chars().rev()), adjacent(after.chars())];
    let has_masks = !is_emphasized && before.max(after) >= 2;
    let fill = |masks| "5".repeat(masks);
    let filled = || fill(before) + &text[number.clone()] + &fill(after);
    has_masks && is_possible(&filled(), region)
}

/// The number of masks at the start, or after one joiner; `None` if they are part of a word.
fn adjacent(characters: impl Iterator<Item = char>) -> usize {
    let mut characters = characters.peekable();
    characters.next_if(|&c| is_joiner(c));
    let mut masks = 0;
    while masks <= MAX_INPUT_LENGTH && characters.next_if(|&c| is_mask(c)).is_some() {
        masks += 1;
    }
    if characters.peek().is_some_and(|&c| is_letter(c)) { 0 } else { masks }
}

fn is_possible(text: &str, region: Region) -> bool {
    Reading::parse(text, region).is_some_and(|reading| reading.is_possible)
}

/// Returns `true` if no letter touches the masks, and no hyphenated word follows, as in `1-800-XXX-FLOW`.
fn is_alone(text: &str, run: &Range<usize>) -> bool {
    let after = &text[run.end..];
    let is_in_word = |c| is_letter(c) && !is_mask(c);
    !text[..run.start].ends_with(is_letter)
        && !after.strip_prefix(['-', '.']).unwrap_or(after).starts_with(is_in_word)
}

/// Removes asterisks that mark bold text: equally many from both ends.
fn without_emphasis(text: &str) -> &str {
    let mut inner = text.trim();
    while let Some(shorter) = inner.strip_prefix('*').and_then(|it| it.strip_suffix('*')) {
        inner = shorter;
    }
    inner
}

/// The ranges of masks in a row, with at most one space between two.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_outside = |c| !is_mask(c) && c != ' ';
    let mut end = 0;
    let masks = iter::from_fn(move || {
        let start = end + text[end..].find(is_mask)?;
        let after = &text[start..];
        let part = &after[..after.find(is_outside).unwrap_or(after.len())];
        let masks = part.split("  ").next().unwrap_or_default().trim_end();
        end = start + masks.len();
        Some(start..end)
    });
    masks.filter(|run| text[run.clone()].chars().nth(1).is_some())
}
