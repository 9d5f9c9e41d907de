//! Numbers that `--check` lets pass: fictional ones, and those in an allow list.

use std::{fs, io, path::Path};

use formatting::{DefaultCountry, PhoneNumber};

use super::Found;

const FICTIONAL: &str = include_str!("fictional.txt");
/// A line with this text passes.
pub const MARKER: &str = "tnr:allow";

/// Patterns of numbers in E.164. `?` matches any digit.
#[derive(Debug)]
pub struct Allowed {
    patterns: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum AllowListError {
    #[error("the list cannot be read")]
    Unreadable(#[from] io::Error),
    #[error("line {line}: '{entry}' must be a valid number, or a pattern such as +1415555????")]
    Entry { line: usize, entry: String },
}

impl Allowed {
    /// Fictional numbers, and those in the list, if any: a number or pattern on each line, and comments after `#`.
    pub fn read(list: Option<&Path>, country: DefaultCountry) -> Result<Self, AllowListError> {
        let list = list.map(fs::read_to_string).transpose()?.unwrap_or_default();
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

fn parse(list: &str, country: DefaultCountry) -> Result<Vec<String>, AllowListError> {
    let entries = (1..)
        .zip(list.lines())
        .map(|(line, text)| (line, text.split_once('#').map_or(text, |(entry, _)| entry).trim()));
    let patterns = entries.filter(|(_, entry)| !entry.is_empty()).map(|(line, entry)| {
        parse_entry(entry, country)
            .ok_or_else(|| AllowListError::Entry { line, entry: entry.to_owned() })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(allowed: &Allowed, number: &str) -> bool {
        allowed.contains(&PhoneNumber::parse(number, DefaultCountry::default()).unwrap())
    }

    #[test]
    fn only_fictional_numbers_pass_by_default() {
        let allowed = Allowed::read(None, DefaultCountry::default()).unwrap();
        for number in [
            "(415) 555-0100",
            "(415) 555-0199",
            "800-555-0199",
            "+1 500 555 0429",
            "+44 20 7946 0000",
            "+44 7700 900999",
            "+33 6 39 98 12 34",
            "+61 2 5550 9999",
        ] {
            assert!(allows(&allowed, number), "{number}");
        }
        for number in [
            "(415) 555-0099",
            "(415) 555-0200",
            "(415) 234-0100",
            "500-556-0429",
            "+44 20 7946 1000",
            "+44 7700 901000",
            "+33 6 39 97 12 34",
            "+61 2 5551 0000",
            "+44 20 7946 00000",
        ] {
            assert!(!allows(&allowed, number), "{number}");
        }
    }

    #[test]
    fn lists_have_numbers_in_any_notation_and_patterns() {
        let list = "# Support\n\n0800 1111 # Childline\n+44 20 7000 ????\n(415) 234-5678\n";
        assert_eq!(
            parse(list, "GB".parse().unwrap()).map_err(|error| error.to_string()),
            Err("line 5: '(415) 234-5678' must be a valid number, or a pattern such as +1415555????"
                .to_owned())
        );
        let patterns = parse(&list.replace("(415)", "+1 415"), "GB".parse().unwrap()).unwrap();
        assert_eq!(patterns, ["+448001111", "+44207000????", "+14152345678"]);
        for entry in ["415???????", "+1 (415) ???-????", "+1415*"] {
            assert!(parse(entry, DefaultCountry::default()).is_err(), "{entry}");
        }
    }
}
