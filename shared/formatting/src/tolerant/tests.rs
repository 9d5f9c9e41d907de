mod generated_numbers;
mod search;

use super::*;
use crate::{DefaultCountry, PhoneNumber};

/// Separators between the digits of a number that Google's rules reject.
const REJECTED_JOINERS: [&str; 38] = [
    "\u{202f}", "\u{2009}", "\u{2002}", "\u{2003}", "\u{2004}", "\u{2005}", "\u{2006}", "\u{2007}",
    "\u{2008}", "\u{200a}", "\u{205f}", "\u{1680}", "·", "•", "‧", "∙", "⋅", "・", "･", " · ",
    "\u{2043}", "\u{fe58}", "\u{fe63}", "\u{5be}", "\u{301c}", "\u{ff5e}", "\u{200c}", "\u{200d}",
    "\u{200e}", "\u{200f}", "\u{feff}", "\u{2066}", "\u{2068}", "\u{2069}", "\u{202a}", "\u{202c}",
    "\u{3164}", "\u{ff70}",
];

/// Separators between numbers in lists, tables and sentences.
const SEPARATORS: [&str; 26] = [
    "\t", "\r\n", "\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}", ",", ", ", "،",
    "、", "，", ";", "；", ":", "=", "|", "&", "_", "'", "’", "\"", "\\", " = ",
];

/// Every character in the categories Pd (dashes) and Zs (spaces).
const DASHES_AND_SPACES: &str = "-\u{58a}\u{5be}\u{1400}\u{1806}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\
    \u{2015}\u{2e17}\u{2e1a}\u{2e3a}\u{2e3b}\u{2e40}\u{2e5d}\u{301c}\u{3030}\u{30a0}\u{fe31}\
    \u{fe32}\u{fe58}\u{fe63}\u{ff0d}\u{10d6e}\u{10ead}\u{20}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\
    \u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{202f}\u{205f}\u{3000}\
    ";

fn parse(text: &str) -> Option<PhoneNumber> {
    PhoneNumber::parse(text, DefaultCountry::default())
}

#[test]
fn joiners_between_digits_are_ignored() {
    for separator in REJECTED_JOINERS {
        for groups in [&["+1", "305", "234", "5678"][..], &["305", "234", "5678"]] {
            let text = groups.join(separator);
            assert_eq!(parse(&text).unwrap().formats.e164, "+13052345678", "{text:?}");
        }
    }
    let invisible = ('\0'..=char::MAX).filter(|&c| is_invisible(c)).take(500);
    for c in DASHES_AND_SPACES.chars().chain(invisible) {
        let text = format!("+1{c}305{c}{c}234{c}56{c}78{c}");
        assert_eq!(parse(&text).unwrap().formats.e164, "+13052345678", "U+{:04X}", c as u32);
    }
}

#[test]
fn digits_are_not_joined_across_separators() {
    for separator in SEPARATORS {
        for groups in [&["305", "234", "5678"][..], &["305", "234·5678"], &["305·234", "5678"]] {
            let text = groups.join(separator);
            assert!(parse(&text).is_none_or(|number| !number.valid), "{text:?}");
        }
        let text = ["305 234 5678", "212 234 5678"].join(separator);
        let number = parse(&text).unwrap();
        assert_eq!(number.other.as_deref(), Some("+12122345678"), "{text:?}");
    }
}

#[test]
fn joiners_between_digits_never_change_a_number() {
    let list = include_str!("../../tests/agreement/one_of_each_region.txt").lines();
    for number in list.filter_map(parse).filter(|number| number.valid) {
        let country = number.country.as_deref().unwrap_or("US");
        let country: DefaultCountry = country.parse().unwrap();
        for text in [&number.formats.e164, &number.formats.national] {
            let plain = PhoneNumber::parse(text, country).map(|number| number.formats.e164);
            for separator in ["·", "\u{202f}", " · "] {
                let separated: String =
                    text.chars().flat_map(|c| [c.to_string(), separator.to_owned()]).collect();
                // Google's rules may read such text as a number with an extension.
                if plain.as_ref() == Some(&number.formats.e164)
                    && !lookalikes::is_lookalike(&separated)
                    && read_with_prefixes(&separated, country.region()).is_none()
                {
                    let read = PhoneNumber::parse(&separated, country);
                    assert_eq!(read.map(|number| number.formats.e164), plain, "{separated:?}");
                }
            }
        }
    }
}
