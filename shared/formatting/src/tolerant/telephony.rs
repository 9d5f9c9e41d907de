//! Numbers as written by phone systems, contact lists and messengers: in addresses, channel names and links, and after
//! dialing codes. These notations mark the number, so the digits in hosts, ports, tags and display names are ignored.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use rlibphonenumber::Region;

use super::{MIN_DIGITS, is_lookalike, notations, read_valid};
use crate::{
    reading::{FoundNumber, Reading},
    text::{digit_count, is_invisible, is_joiner, with_ascii_digits},
};

/// Parts shared by several notations.
const PARTS: [(&str, &str); 4] = [
    ("CHANNEL", r"^\s*(?:pjsip|sip|local|dahdi|iax2|zap|sofia)/(?:[^@]*/)?"),
    ("PLAIN", r"(?<number>(?:\+|%2b)?[\d(][\d ()\-]*\d)"),
    ("NUMBER", r"(?<number>(?:\+|%2b)?[\d(][\d ().\-/]*\d)"),
    ("ENDING", r"(?:(?:[,;#xpw]+|;ext=| ?ext\.? ?)(?<extension>\d{1,9}))?#?\s*$"),
];

/// The mark and the regular expression of each notation.
fn marked_notations() -> impl Iterator<Item = (String, String)> {
    notations(include_str!("telephony.txt"), &PARTS).map(|row| {
        let (mark, pattern) = row.split_once(' ').expect("a test reads the notations");
        (mark.to_owned(), pattern.to_owned())
    })
}

// Unicode classes would take milliseconds to compile.
static NOTATIONS: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = marked_notations().map(|(_, pattern)| pattern);
    let set = RegexSetBuilder::new(patterns).unicode(false).case_insensitive(true).build();
    set.expect("tests compile the patterns")
});

static PATTERNS: LazyLock<Vec<(String, Regex)>> = LazyLock::new(|| {
    let compile = |(mark, pattern): (String, String)| {
        let pattern = RegexBuilder::new(&pattern).unicode(false).case_insensitive(true).build();
        (mark, pattern.expect("tests compile the patterns"))
    };
    marked_notations().map(compile).collect()
});

/// Marks the notations that are tried only if Google's rules do not find a valid number.
const FALLBACK_MARK: &str = "?";

/// The valid number in an unambiguous notation, even if Google's rules read a different one.
pub fn read_certain(text: &str, region: Region) -> Option<FoundNumber> {
    // A cheap check that skips plain numbers.
    let is_likely = text.trim_start().starts_with(['*', '#'])
        || (text.contains(['/', '@', '<', 'p', 'P'])
            && text.contains(|c: char| c.is_ascii_alphabetic()));
    let text = if is_likely { with_ascii_digits(text)? } else { return None };
    read_if(&text, region, |mark| mark != FALLBACK_MARK)
}

/// The valid number in a notation, and a second one if it has two. Digits in the text must be ASCII.
pub fn read(text: &str, region: Region) -> Option<FoundNumber> {
    read_if(text, region, |_| true)
}

fn read_if(text: &str, region: Region, is_tried: fn(&str) -> bool) -> Option<FoundNumber> {
    let text = with_ascii_joiners(text);
    let (mark, pattern) = &PATTERNS[NOTATIONS.matches(text.as_bytes()).iter().next()?];
    if !is_tried(mark) {
        return None;
    }
    let notations: Vec<Captures> = pattern.captures_iter(text.as_bytes()).collect();
    let numbers = notations.iter().filter_map(|notation| read_notation(notation, mark, region));
    let found = FoundNumber::from_numbers(numbers.collect())?;
    let code = notations.first().and_then(|notation| group(notation, "code"));
    // Add a pause after a trunk access digit.
    let pause = if code.is_some_and(|code| code.len() == 1) { "," } else { "" };
    Some(FoundNumber { dialing_code: code.map(|code| [code, pause].concat()), ..found })
}

fn read_notation(notation: &Captures, mark: &str, region: Region) -> Option<Reading> {
    let number = group(notation, "number")?.to_lowercase().replace("%2b", "+");
    if digit_count(&number) < MIN_DIGITS || (mark == FALLBACK_MARK && is_lookalike(&number)) {
        return None;
    }
    let number = if mark == "+" { format!("+{}", number.trim_start_matches('+')) } else { number };
    let context = group(notation, "context").unwrap_or_default();
    let extension = group(notation, "extension").map(|digits| format!(";ext={digits}"));
    read_valid(&(number + &extension.unwrap_or_default() + context), region)
}

fn group<'t>(notation: &Captures<'t>, name: &str) -> Option<&'t str> {
    str::from_utf8(notation.name(name)?.as_bytes()).ok()
}

/// Replaces non-ASCII joiners with spaces, and removes invisible characters.
fn with_ascii_joiners(text: &str) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c));
    visible.map(|c| if !c.is_ascii() && is_joiner(c) { ' ' } else { c }).collect()
}
