//! Numbers that `--check` lets pass: fictional ones, and those in an allow list.

use std::{fs, path::Path};

use formatting::{DefaultCountry, PhoneNumber};

use super::Found;
use crate::{CliError, error::Context};

const FICTIONAL: &str = include_str!("fictional.txt");
/// A line with this text passes.
pub const MARKER: &str = "tnr:allow";

/// Patterns of numbers in E.164. `?` matches any digit.
#[derive(Debug)]
pub struct AllowedNumbers {
    patterns: Vec<String>,
}

impl AllowedNumbers {
    /// Fictional numbers, and those in the list, if any: a number or pattern on each line, and comments after `#`.
    pub fn read(list: Option<&Path>, country: DefaultCountry) -> Result<Self, CliError> {
        let list = list.map(fs::read_to_string).transpose().context("the list cannot be read")?;
        let list = list.unwrap_or_default();
        let patterns = [FICTIONAL, &list].map(|text| parse(text, country));
        let patterns = patterns.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Self { patterns })
    }

    /// Removes the numbers in a line that may appear.
    pub fn remove_from(&self, found: &mut Vec<Found<'_>>, line: &[u8]) {
        found.retain(|found| !self.contains(&found.number));
        if !found.is_empty() && String::from_utf8_lossy(line).contains(MARKER) {
            found.clear();
        }
    }

    fn contains(&self, number: &PhoneNumber) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern, &number.formats.e164))
    }
}

fn parse(list: &str, country: DefaultCountry) -> Result<Vec<String>, CliError> {
    let entries = (1..)
        .zip(list.lines())
        .map(|(line, text)| (line, text.split_once('#').map_or(text, |(entry, _)| entry).trim()));
    let patterns = entries.filter(|(_, entry)| !entry.is_empty()).map(|(line, entry)| {
        let rule = "must be a valid number, or a pattern such as +1415555????";
        let invalid = || CliError::failed(format!("line {line}: '{entry}' {rule}"));
        parse_entry(entry, country).ok_or_else(invalid)
    });
    patterns.collect()
}

fn parse_entry(entry: &str, country: DefaultCountry) -> Option<String> {
    if entry.contains('?') {
        let is_pattern = |digits: &str| digits.chars().all(|c| c == '?' || c.is_ascii_digit());
        let pattern = entry.replace(' ', "");
        return pattern.strip_prefix('+').is_some_and(is_pattern).then_some(pattern);
    }
    let number = PhoneNumber::parse(entry, country).filter(|number| number.valid)?;
    Some(number.formats.e164)
}

fn matches(pattern: &str, e164: &str) -> bool {
    pattern.len() == e164.len()
        && pattern
            .bytes()
            .zip(e164.bytes())
            .all(|(expected, digit)| [digit, b'?'].contains(&expected))
}
