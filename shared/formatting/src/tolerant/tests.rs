//! Examples of joiners and separators, and generated text that tries to break the tolerant parser's guarantees.
//!
//! `TNR_GENERATED_CASES` sets how many inputs each test generates.

use std::env;

use proptest::{
    prelude::*,
    sample::select,
    strategy::Union,
    string::string_regex,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};

use super::*;
use crate::{DefaultCountry, Formats, PhoneNumber, Reason};

/// Separators between numbers in lists, tables and sentences.
const SEPARATORS: [&str; 26] = [
    "\t", "\r\n", "\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}", ",", ", ", "،",
    "、", "，", ";", "；", ":", "=", "|", "&", "_", "'", "’", "\"", "\\", " = ",
];

/// Every character in the categories Pd (dashes) and Zs (spaces), and others written between digits.
const JOINERS: &str = "·‧∙⋅・･\u{2043}\u{ff5e}\u{ff70}\
    -\u{58a}\u{5be}\u{1400}\u{1806}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\
    \u{2015}\u{2e17}\u{2e1a}\u{2e3a}\u{2e3b}\u{2e40}\u{2e5d}\u{301c}\u{3030}\u{30a0}\u{fe31}\
    \u{fe32}\u{fe58}\u{fe63}\u{ff0d}\u{10d6e}\u{10ead}\u{20}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\
    \u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{202f}\u{205f}\u{3000}\
    ";

fn parse(text: &str) -> Option<PhoneNumber> {
    PhoneNumber::parse(text, DefaultCountry::default())
}

#[test]
fn joiners_between_digits_are_ignored() {
    let invisible = ('\0'..=char::MAX).filter(|&c| is_invisible(c)).take(500);
    for c in JOINERS.chars().chain(invisible) {
        for text in [format!("+1{c}305{c}{c}234{c}56{c}78{c}"), format!("305{c}234{c}5678")] {
            let e164 = parse(&text).map(|number| number.formats.e164);
            assert_eq!(e164.as_deref(), Some("+13052345678"), "U+{:04X}", c as u32);
        }
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

/// Countries with short and long numbers, and with one or many lengths.
const COUNTRIES: [&str; 14] =
    ["US", "US", "US", "GB", "DE", "AT", "FR", "DK", "NO", "IT", "IN", "AU", "BR", "AC"];

/// Geographic and mobile numbers by country, most of them valid.
const NUMBERS: [(&str, &str); 12] = [
    ("US", r"\+1(305|212|646)[2-9][0-9]{6}"),
    ("CA", r"\+1(416|604)[2-9][0-9]{6}"),
    ("GB", r"\+44(207|121|7911)[0-9]{7}"),
    ("DE", r"\+49(30|89)[1-9][0-9]{7}"),
    ("DE", r"\+491(51|60|70)[1-9][0-9]{6,7}"),
    ("FR", r"\+33[1-7][1-9][0-9]{7}"),
    ("ES", r"\+34(91|6[0-9])[0-9]{7}"),
    ("AU", r"\+61([23478]|4[0-9])[0-9]{8}"),
    ("IN", r"\+919[89][0-9]{8}"),
    ("JP", r"\+81[36][3-6][0-9]{7}"),
    ("BR", r"\+55(11|21)[2-5][0-9]{7}"),
    ("MX", r"\+52(55|33)[1-9][0-9]{7}"),
];

fn is_valid_by_google(text: &str, country: DefaultCountry) -> bool {
    Reading::parse(text, country.region()).is_some_and(|reading| reading.is_valid())
}

/// The regular expressions for lookalikes, in groups.
fn lookalike_patterns() -> impl Iterator<Item = Vec<String>> {
    const PARTS: [(&str, &str); 6] = [
        ("%Y", "(19|20)[0-9]{2}"),
        ("%M", "([1-9]|0[1-9]|1[0-2])"),
        ("%D", "([1-9]|0[1-9]|[12][0-9]|3[01])"),
        ("%h", "([0-9]|[01][0-9]|2[0-3])"),
        ("%m", "[0-5][0-9]"),
        ("%s", "[0-5][0-9]"),
    ];
    let groups = include_str!("lookalikes.txt").split("\n\n").skip(1);
    groups.map(|group| notations(group, &PARTS).collect())
}

/// Runs a test on generated values. The seed is fixed, so every run uses the same values.
fn check<S: Strategy>(
    default_cases: u32,
    values: S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let cases = env::var("TNR_GENERATED_CASES").map(|cases| cases.parse().unwrap());
    let cases = cases.unwrap_or(default_cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng).run(&values, test).unwrap();
}

/// Text that matches one of the regular expressions.
fn any_of(patterns: Vec<String>) -> impl Strategy<Value = String> {
    Union::new(patterns.iter().map(|pattern| string_regex(pattern).expect(pattern)))
}

/// Text in any of the notations, occasionally with Arabic digits.
fn lookalikes() -> impl Strategy<Value = String> {
    let arabic = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(0x660 + digit));
    let text = Union::new(lookalike_patterns().map(any_of));
    (text, prop::bool::weighted(0.05)).prop_map(move |(text, is_arabic)| {
        text.chars().map(|c| arabic(c).filter(|_| is_arabic).unwrap_or(c)).collect()
    })
}

fn numbers() -> impl Strategy<Value = (DefaultCountry, PhoneNumber)> {
    let numbers = NUMBERS.map(|(country, pattern)| {
        let country: DefaultCountry = country.parse().unwrap();
        let number = any_of(vec![pattern.to_owned()]).prop_filter_map("is invalid", move |e164| {
            PhoneNumber::parse(&e164, country).filter(|number| number.valid)
        });
        number.prop_map(move |number| (country, number)).boxed()
    });
    select(numbers.to_vec()).prop_flat_map(|numbers| numbers)
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn lines() -> impl Strategy<Value = String> {
    const HOST: &str = r"(10\.0\.0\.[0-9]{1,3}|[0-9]{2}(\.[0-9]{2}){3}|sip[0-9]?\.example\.com)";
    any_of(notations(include_str!("telephone_lines.txt"), &[("HOST", HOST)]).collect())
}

#[test]
fn lookalikes_are_valid_only_if_google_accepts_them() {
    check(2_000, (lookalikes(), select(&COUNTRIES[..])), |(text, country)| {
        let country: DefaultCountry = country.parse().unwrap();
        if let Some(number) = PhoneNumber::parse(&text, country).filter(|number| number.valid) {
            prop_assert!(is_valid_by_google(&text, country), "{text:?} is {}", number.formats.e164);
        }
        Ok(())
    });
}

#[test]
fn call_logs_contacts_and_sip_headers_are_read() {
    check(1_000, (lines(), numbers()), |(line, (country, number))| {
        let Formats { e164, national, .. } = &number.formats;
        let digits = [&digits(e164), &digits(national)];
        let notations = [("%E", e164), ("%I", digits[0]), ("%N", digits[1]), ("%F", national)];
        let write = |line: String, (place, number): &(_, &String)| line.replace(place, number);
        let line = notations.iter().fold(line, write);
        let read = PhoneNumber::parse(&line, country);
        let read = read.map(|read| (read.valid, read.formats.e164, read.extension, read.other));
        prop_assert_eq!(read, Some((true, e164.clone(), None, None)), "{}", line);
        Ok(())
    });
}

/// Applies even if Google's rules accept the text by reading X as 9, or by dropping the masked digits.
#[test]
fn masked_numbers_are_not_valid() {
    let masks = select(vec!["X", "x", "*", "•"]);
    let texts = (numbers(), masks, 0..12_usize, 2..8_usize, 0..3_usize).prop_filter_map(
        "has no masks in a row",
        |((country, number), mask, start, length, format)| {
            let Formats { e164, national, international, .. } = number.formats;
            let mut index = 0;
            let write = |c: char| {
                index += usize::from(c.is_ascii_digit());
                let is_masked = (start + 1..=start + length).contains(&index);
                if is_masked && c.is_ascii_digit() { mask.to_owned() } else { c.to_string() }
            };
            let text: String = [e164, national, international][format].chars().map(write).collect();
            text.contains(&mask.repeat(2)).then_some((country, text))
        },
    );
    check(1_000, texts, |(country, text)| {
        let read = PhoneNumber::parse(&text, country);
        prop_assert_eq!(
            Reason::find(&text, country, read.as_ref()),
            Some(Reason::Masked),
            "{}",
            text
        );
        Ok(())
    });
}

proptest! {
    #[test]
    fn digits_in_notes_are_not_joined_to_numbers(
        number in "[2-9][0-9]{2}[-. ][2-9][0-9]{2}[-. ][0-9]{2,3}",
        note in "( ?[;|:(\n]|, ) ?[0-9]{1,2}(st|nd|h| rooms| Main St| am)[)]?",
    ) {
        let (text, country) = (format!("{number}{note}"), DefaultCountry::default());
        let number = PhoneNumber::parse(&text, country).filter(|number| number.valid);
        prop_assert!(number.is_none() || is_valid_by_google(&text, country), "{:?}", text);
    }

    #[test]
    fn every_digit_in_the_text_is_in_the_result(
        text in "[(]?[2-9][0-9]{2}[)]?[-. _,:;|/]{1,2}[2-9][0-9]{2}[-. _]?[0-9]{4}([ ,;/|_(]{1,2}[a-z]{0,6}[ .:]{0,2}([2-9][0-9]{0,9})?[)]?){0,2}",
    ) {
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse(&text, country).filter(|number| number.valid);
        if let Some(number) = number.filter(|_| !is_valid_by_google(&text, country)) {
            let text_digits = digits(&text);
            // A third number is not reported.
            prop_assume!(text_digits.len() < 28);
            let extension = number.extension.unwrap_or_default();
            let other = number.other.as_deref().map_or("", |other| &other["+1".len()..]);
            let other = digits(other);
            // The second number may include its country code, or only its last digits.
            let is_second = |second: &str| {
                let ending = second.strip_prefix('1').unwrap_or(second);
                other.ends_with(ending) && other.is_empty() == second.is_empty()
            };
            let first = number.national_number + &extension;
            let second = text_digits.strip_prefix(&first);
            prop_assert!(second.is_some_and(is_second), "{text:?}");
        }
    }
}

/// The file has numbers from ten countries as people write them, with typical notes.
#[test]
fn notes_around_numbers_from_ten_countries_are_ignored() {
    let (numbers, notes) = include_str!("notes.txt").split_once("\n\n").unwrap();
    for line in numbers.lines() {
        let columns: Vec<&str> = line.splitn(3, ' ').collect();
        let [country, e164, number] = columns[..] else { panic!("{line}") };
        for note in notes.trim_end().split(['|', '\n']) {
            for text in [
                format!("{number} ({note})"),
                format!("{number} {note}"),
                format!("{number} - {note}"),
                format!("{number}, {note}"),
                format!("{number}[{note}]"),
                format!("{note}: {number}"),
                format!("{note} {number}"),
                format!("({note}) {number}"),
                format!("{note} {number} {note}"),
            ] {
                let read = PhoneNumber::parse(&text, country.parse().unwrap()).unwrap();
                assert_eq!((read.formats.e164.as_str(), read.other), (e164, None), "{text}");
                assert!(read.valid && read.extension.is_none(), "{text}");
            }
        }
    }
}
