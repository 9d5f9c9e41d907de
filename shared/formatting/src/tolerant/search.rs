//! Generates texts to find one that breaks a promise of the tolerant reader.

use proptest::{prelude::*, sample::select, string::string_regex};
use rlibphonenumber::Region;

use crate::{DefaultCountry, PhoneNumber, reading::Reading};

/// Countries with short and long numbers, of a single length or many.
const COUNTRIES: [&str; 14] =
    ["US", "US", "US", "GB", "DE", "AT", "FR", "DK", "NO", "IT", "IN", "AU", "BR", "AC"];

fn is_valid_by_google(text: &str, country: DefaultCountry) -> bool {
    Reading::parse(text, country.region()).is_some_and(|reading| reading.is_valid())
}

/// The regular expressions of lookalikes, in groups.
fn notations() -> Vec<Vec<String>> {
    const PARTS: [(&str, &str); 6] = [
        ("%Y", "(19|20)[0-9]{2}"),
        ("%M", "([1-9]|0[1-9]|1[0-2])"),
        ("%D", "([1-9]|0[1-9]|[12][0-9]|3[01])"),
        ("%h", "([0-9]|[01][0-9]|2[0-3])"),
        ("%m", "[0-5][0-9]"),
        ("%s", "[0-5][0-9]"),
    ];
    let pattern_of = |line: &str| {
        let with_part = |line: String, (part, pattern): &(&str, &str)| line.replace(part, pattern);
        PARTS.iter().fold(line.to_owned(), with_part)
    };
    let groups = include_str!("lookalikes.txt").split("\n\n").skip(1);
    groups.map(|group| group.lines().skip(1).map(pattern_of).collect()).collect()
}

/// Texts in any of the notations, a few with Arabic digits.
fn lookalikes() -> impl Strategy<Value = String> {
    let arabic = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(0x660 + digit));
    let text = select(notations())
        .prop_flat_map(select)
        .prop_flat_map(|pattern| string_regex(&pattern).expect("a regular expression"));
    (text, prop::bool::weighted(0.05)).prop_map(move |(text, is_arabic)| {
        text.chars().map(|c| arabic(c).filter(|_| is_arabic).unwrap_or(c)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn lookalikes_are_not_valid_numbers_unless_google_says_so(
        text in lookalikes(),
        country in select(&COUNTRIES[..]),
    ) {
        let country: DefaultCountry = country.parse().unwrap();
        if let Some(number) = PhoneNumber::parse(&text, country).filter(|number| number.valid) {
            prop_assert!(is_valid_by_google(&text, country), "{text:?} is {}", number.formats.e164);
        }
    }

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
    fn every_digit_in_a_text_is_in_the_result(
        text in "[(]?[2-9][0-9]{2}[)]?[-. _,:;|/]{1,2}[2-9][0-9]{2}[-. _]?[0-9]{4}([ ,;/|_(]{1,2}[a-z]{0,6}[ .:]{0,2}([2-9][0-9]{0,9})?[)]?){0,2}",
    ) {
        let country = DefaultCountry::default();
        let number = PhoneNumber::parse(&text, country).filter(|number| number.valid);
        if let Some(number) = number.filter(|_| !is_valid_by_google(&text, country)) {
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let digits_of_text = digits(&text);
            // A third number is not reported.
            prop_assume!(digits_of_text.len() < 28);
            let extension = number.extension.unwrap_or_default();
            let other = number.other.as_deref().map_or("", |other| &other["+1".len()..]);
            let other = digits(other);
            let answered = number.national_number.len() + extension.len() + other.len();
            // The second number may include its country code.
            let code = usize::from(!other.is_empty() && digits_of_text.contains(&format!("1{other}")));
            prop_assert!([answered, answered + code].contains(&digits_of_text.len()), "{text:?}");
        }
    }
}

/// The file has numbers from ten countries as people write them, and the words that they write next to them.
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

/// Countries and their international dialing prefixes.
const INTERNATIONAL_PREFIXES: &str = "\
    AU 0011 0014 0018|NG 009|CO 005 007 009|SG 001 002 008 018|KR 001 002 00700|\
    BR 0014 0015 0021 0031 0041|HK 001 0080|TH 001 007 009|TW 002 009|MY 00|KE 000 006|\
    TZ 000 008|UG 000 005|CL 1230|ID 001 007 008|KH 001 007|IL 012 013 014|RU 810|JP 010|\
    FI 00 990 999|CU 119|US 011|GB 00|MN 001 002";

fn dialed_abroad() -> impl Strategy<Value = (&'static str, String)> {
    let list = include_str!("../../tests/agreement/one_of_each_region.txt");
    let in_e164: Vec<&str> = list.lines().filter(|line| line.starts_with('+')).collect();
    let prefixes = INTERNATIONAL_PREFIXES.split('|').flat_map(|country| {
        let (country, prefixes) = country.split_once(' ').unwrap();
        prefixes.split(' ').map(move |prefix| (country, prefix))
    });
    let prefixes = select(prefixes.collect::<Vec<_>>());
    (prefixes, select(in_e164), "[0-9]{3}", select(&["", " ", "-"][..])).prop_map(
        |((country, prefix), number, ending, separator)| {
            let number = &number[1..number.len() - 3];
            (country, format!("{prefix}{separator}{number}{ending}"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn numbers_with_the_countrys_own_prefix_match_googles_reading(
        (country, text) in dialed_abroad(),
    ) {
        let country: DefaultCountry = country.parse().unwrap();
        let googles = Reading::parse(&text, country.region()).filter(Reading::is_valid);
        if let Some(googles) = googles {
            let number = PhoneNumber::parse(&text, country).unwrap();
            prop_assert_eq!(&number.formats.e164, &googles.in_one_word(), "{}", text);
            prop_assert_eq!(number.country, googles.region.filter(|r| *r != Region::World).map(|r| r.to_string()));
        }
    }
}
