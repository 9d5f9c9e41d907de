//! Generates text that tries to break the tolerant reader's guarantees.
//!
//! `TNR_GENERATED_CASES` sets how many texts each test generates.

use std::env;

use proptest::{
    prelude::*,
    sample::select,
    strategy::Union,
    string::string_regex,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};

use crate::{DefaultCountry, PhoneNumber, reading::Reading};

/// Countries with short and long numbers, and with one or many lengths.
const COUNTRIES: [&str; 14] =
    ["US", "US", "US", "GB", "DE", "AT", "FR", "DK", "NO", "IT", "IN", "AU", "BR", "AC"];

pub fn is_valid_by_google(text: &str, country: DefaultCountry) -> bool {
    Reading::parse(text, country.region()).is_some_and(|reading| reading.is_valid())
}

/// The regular expressions for lookalikes, in groups.
fn notations() -> Vec<Vec<String>> {
    const PARTS: [(&str, &str); 6] = [
        ("%Y", "(19|20)[0-9]{2}"),
        ("%M", "([1-9]|0[1-9]|1[0-2])"),
        ("%D", "([1-9]|0[1-9]|[12][0-9]|3[01])"),
        ("%h", "([0-9]|[01][0-9]|2[0-3])"),
        ("%m", "[0-5][0-9]"),
        ("%s", "[0-5][0-9]"),
    ];
    let to_pattern = |line: &str| {
        let replace = |line: String, (part, pattern): &(&str, &str)| line.replace(part, pattern);
        PARTS.iter().fold(line.to_owned(), replace)
    };
    let groups = include_str!("../lookalikes.txt").split("\n\n").skip(1);
    groups.map(|group| group.lines().skip(1).map(to_pattern).collect()).collect()
}

/// Runs a test on generated values, which are the same in each run.
pub fn check<S: Strategy>(
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
pub fn any_of(patterns: Vec<String>) -> impl Strategy<Value = String> {
    Union::new(patterns.iter().map(|pattern| string_regex(pattern).expect(pattern)))
}

/// Text in any of the notations, occasionally with Arabic digits.
fn lookalikes() -> impl Strategy<Value = String> {
    let arabic = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(0x660 + digit));
    let text = Union::new(notations().into_iter().map(any_of));
    (text, prop::bool::weighted(0.05)).prop_map(move |(text, is_arabic)| {
        text.chars().map(|c| arabic(c).filter(|_| is_arabic).unwrap_or(c)).collect()
    })
}

#[test]
fn lookalikes_are_not_valid_numbers_unless_google_says_so() {
    check(2_000, (lookalikes(), select(&COUNTRIES[..])), |(text, country)| {
        let country: DefaultCountry = country.parse().unwrap();
        if let Some(number) = PhoneNumber::parse(&text, country).filter(|number| number.valid) {
            prop_assert!(is_valid_by_google(&text, country), "{text:?} is {}", number.formats.e164);
        }
        Ok(())
    });
}

proptest! {
    #[test]
    fn digits_in_a_note_do_not_complete_a_number(
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
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let text_digits = digits(&text);
            // A third number is not reported.
            prop_assume!(text_digits.len() < 28);
            let extension = number.extension.unwrap_or_default();
            let other = number.other.as_deref().map_or("", |other| &other["+1".len()..]);
            let other = digits(other);
            // The second number may include its country code, or only have its last digits.
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

/// The file has numbers from ten countries as people write them, and notes that people write next to them.
#[test]
fn notes_around_numbers_from_ten_countries_are_ignored() {
    let (numbers, notes) = include_str!("../notes.txt").split_once("\n\n").unwrap();
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
