use proptest::{prelude::*, sample::select};

use super::*;
use crate::{DefaultCountry, PhoneNumber};

/// Separators that Google's rules reject between digits.
const REFUSED_SEPARATORS: [&str; 47] = [
    "\t", "\r\n", "\n", "\r", "\u{202f}", "\u{2009}", "\u{2002}", "\u{2003}", "\u{2004}",
    "\u{2005}", "\u{2006}", "\u{2007}", "\u{2008}", "\u{200a}", "\u{205f}", "\u{1680}", "\u{2028}",
    "\u{2029}", "_", ",", ":", ";", "·", "•", "|", "'", "’", "\"", "=", "\\", "&", "\u{2043}",
    "\u{fe58}", "\u{fe63}", "\u{5be}", "\u{301c}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}",
    "\u{feff}", "\u{2066}", "\u{2068}", "\u{2069}", "\u{202a}", "\u{202c}", "\u{3164}",
];

/// Every character of the categories Pd (dashes) and Zs, Zl and Zp (spaces).
const DASHES_AND_SPACES: &str = "-\u{58a}\u{5be}\u{1400}\u{1806}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\
    \u{2015}\u{2e17}\u{2e1a}\u{2e3a}\u{2e3b}\u{2e40}\u{2e5d}\u{301c}\u{3030}\u{30a0}\u{fe31}\
    \u{fe32}\u{fe58}\u{fe63}\u{ff0d}\u{10d6e}\u{10ead}\u{20}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\
    \u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{202f}\u{205f}\u{3000}\
    \u{2028}\u{2029}";

fn parsed(text: &str) -> Option<PhoneNumber> {
    PhoneNumber::parse(text, DefaultCountry::default())
}

fn e164(text: &str) -> String {
    parsed(text).map_or_else(String::new, |number| number.formats.e164)
}

fn e164_and_extension(text: &str) -> (String, String) {
    (e164(text), parsed(text).and_then(|number| number.extension).unwrap_or_default())
}

#[test]
fn rejected_separators_between_digits_are_ignored() {
    for separator in REFUSED_SEPARATORS {
        for groups in [&["+1", "305", "234", "5678"][..], &["305", "234", "5678"]] {
            let text = groups.join(separator);
            assert_eq!(e164(&text), "+13052345678", "{text:?}");
        }
    }
    let invisible = ('\0'..=char::MAX).filter(|&c| is_invisible(c)).take(500);
    for c in DASHES_AND_SPACES.chars().chain(invisible) {
        let text = format!("+1{c}305{c}{c}234{c}56{c}78{c}");
        assert_eq!(e164(&text), "+13052345678", "U+{:04X}", c as u32);
    }
}

#[test]
fn extensions_vanity_letters_and_names_work_between_rejected_separators() {
    let with_extension = ("+13052345678".to_owned(), "5".to_owned());
    for text in [
        "305_234_5678 ext. 5",
        "305_234_5678x5",
        "305_234_5678 #5",
        "305_234_5678,,5",
        "305_234_5678;5",
        "tel:+1_305_234_5678;ext=5",
        "305·234·5678 Extension: 5, Jane",
        "305_234_5678 (poste: 5)",
        "305-234-5678, poste 5 (Luc)",
    ] {
        assert_eq!(e164_and_extension(text), with_extension, "{text}");
    }
    for (text, expected) in [
        ("1_800_FLOWERS", "+18003569377"),
        ("1_800_233_FORD", "+18002333673"),
        ("tel:20_7946_0958;phone-context=+44", "+442079460958"),
        ("Jane Doe: 305_234_5678", "+13052345678"),
        ("305_234_5678 home", "+13052345678"),
        ("+49 30_123456, home", "+4930123456"),
        ("011_44_20_7946_0958", "+442079460958"),
        ("sip:+13052345678@example.com", "+13052345678"),
    ] {
        assert_eq!(e164(text), expected, "{text}");
    }
}

/// In countries whose numbers vary in length, two numbers on two lines could be one.
#[test]
fn lists_of_numbers_are_not_joined() {
    for (text, country, expected) in [
        ("01 58801; 01 58802", "AT", "+43158801"),
        ("0761 2030\n0761 2010", "DE", "+497612030"),
        ("+49 761 2030 | +49 761 2010", "US", "+497612030"),
        ("+49 761 2030\n0761 2010", "DE", "+497612030"),
        ("01 58801, 01 58802", "AT", "+43158801"),
        ("0761 2030\t0761 2010", "DE", "+497612030"),
        ("0761 2030 & 0761 2010", "DE", "+497612030"),
        ("01 58801 • 01 58802", "AT", "+43158801"),
    ] {
        let number = PhoneNumber::parse(text, country.parse().unwrap());
        assert_eq!(number.unwrap().formats.e164, expected, "{text:?}");
    }
    // Each line alone is too short.
    assert_eq!(e164("305-234\n5678"), "+13052345678");
    assert_eq!(e164("+44|20|7946 0958"), "+442079460958");
}

#[test]
fn the_first_of_two_numbers_is_used_and_the_second_is_reported() {
    for (text, other) in [
        ("305-234-5678 / 212-234-5678", "+12122345678"),
        ("305-234-5678 or 212-234-5678", "+12122345678"),
        ("305-234-5678; 212-234-5678", "+12122345678"),
        ("305-234-5678\n212-234-5678", "+12122345678"),
        ("305, 234, 5678 | 212, 234, 5678", "+12122345678"),
        ("(305) 234-5678 (212) 234-5678", "+12122345678"),
        ("3052345678 2122345678", "+12122345678"),
        ("3052345678\t2122345678", "+12122345678"),
        ("305 234 5678  212 234 5678", "+12122345678"),
        ("305-234-5678 +442079460958", "+442079460958"),
        ("home: 305-234-5678 cell: 212-234-5678 work: 646-234-5678", "+12122345678"),
        ("305 234 5678; 12122345678", "+12122345678"),
        ("305 234 5678, 212 234 5678 x9", "+12122345678;ext=9"),
        ("305-234-5678 or +44 20 7946 0958", "+442079460958"),
        ("305-234-5678 - 212-234-5678", "+12122345678"),
        ("305-234-5678 / 305-234-5678 / 212-234-5678", "+12122345678"),
    ] {
        let number = parsed(text).unwrap();
        assert_eq!((&*number.formats.e164, number.extension), ("+13052345678", None), "{text}");
        assert_eq!(number.other.as_deref(), Some(other), "{text}");
    }
    for text in ["305-234-5678 x9", "305 234 5678,,2122345678", "305 234 5678 ext 2122345678"] {
        let number = parsed(text).unwrap();
        assert!(number.extension.is_some() && number.other.is_none(), "{text}");
    }
    assert_eq!(e164("+44 20 7946 0958 / 305-234-5678"), "+442079460958");
    assert_eq!(e164("n/a; 305-234-5678"), "+13052345678");
}

#[test]
fn floats_without_a_fraction_are_whole_numbers() {
    for text in
        ["2127364412.0", "12127364412.00000", "2.127364412E9", "2127364412E0", "+1.2127364412e+10"]
    {
        assert_eq!(e164(text), "+12127364412", "{text}");
    }
    for text in ["2127364412.5", "2.127E+09", "2.12736441E+9", "1E+10"] {
        assert!(!parsed(text).is_some_and(|number| number.valid), "{text}");
    }
}

#[test]
fn digits_in_a_note_are_not_joined_to_a_number() {
    for (text, country) in [
        ("212-736-441 (2nd line)", "US"),
        ("212-736-441; 2 rooms", "US"),
        ("212-736-441\n2 Main", "US"),
        ("2: 12-736-4412 Bob", "US"),
        ("2127364, 412 bob", "US"),
        ("646-555-0142, 24h", "US"),
        ("+49 30 23125678 (3rd floor)", "DE"),
        ("+49 30 23125678 (8-16 Uhr)", "DE"),
        ("M-F 9-5: (030) 23125-678", "DE"),
        ("02 1234 5678 2nd number", "IT"),
        ("071 123 4567, 3 UK", "ZA"),
        ("030 23125 678, 24/7", "DE"),
        ("030 23125 678 (1&1)", "DE"),
        ("+431234567 ext 890 poste 9", "AT"),
        ("212⁷3644122", "US"),
        ("212½736½4412", "US"),
    ] {
        let number = PhoneNumber::parse(text, country.parse().unwrap());
        assert!(!number.is_some_and(|number| number.valid), "{text}");
    }
}

#[test]
fn words_that_also_mean_money_or_versions_are_ignored() {
    for note in ["preferred", "prepaid", "final", "RCN", "Yen Nguyen", "Euro Car", "CAD dept"] {
        for number in ["(212) 736-4412", "+1.212.736.4412"] {
            assert_eq!(e164(&format!("{number} {note}")), "+12127364412", "{number} {note}");
        }
    }
}

/// Lookalikes that `search` does not vary.
#[test]
fn lookalikes_and_parts_of_numbers_are_not_numbers() {
    for text in [
        "2127364412 USD",
        "21273644-1222-4121-8273-644121273644",
        "512616******3672 visa",
        "-47.57245064|-160.49342634 now",
        "9.029.342.299 ISK",
        "218.9.255.255.in-addr.arpa",
        "2127364412abc",
        "+44, 6123456789",
        "3052345678 234567812345",
        "+999_3052345678",
    ] {
        assert!(!parsed(text).is_some_and(|number| number.valid), "{text}");
    }
    for text in ["hello", "", "_", "5.55E+09", "3.05234567E+09", "+", "C++", "#:b"] {
        assert_eq!(parsed(text), None, "{text:?}");
    }
}

/// Each number in the list, in E.164 and as written in its country.
fn numbers() -> Vec<(String, PhoneNumber)> {
    let list = include_str!("../../tests/agreement/one_of_each_region.txt").lines();
    let valid = list.filter_map(parsed).filter(|number| number.valid);
    valid
        .flat_map(|number| {
            [&number.formats.e164, &number.formats.national]
                .map(|text| (text.clone(), number.clone()))
        })
        .collect()
}

fn separators() -> impl Strategy<Value = String> {
    let any = any::<char>().prop_filter("no separator", |&c| {
        is_invisible(c) || !(is_letter(c) || c.is_numeric() || is_plus(c) || "#＃".contains(c))
    });
    let known = select(&REFUSED_SEPARATORS[..]).prop_map(str::to_owned);
    let dash = select(DASHES_AND_SPACES.chars().collect::<Vec<_>>()).prop_map(String::from);
    prop_oneof![Just(String::new()), known, dash, any.prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn separators_between_digits_never_change_a_number(
        (text, number) in select(numbers()),
        separators in prop::collection::vec(separators(), 24),
    ) {
        let country = number.country.as_deref().unwrap_or("US").parse::<DefaultCountry>().unwrap();
        let separated: String = text
            .chars()
            .zip(separators.iter().cycle())
            .flat_map(|(c, separator)| [c.to_string(), separator.clone()])
            .collect();
        let plain = PhoneNumber::parse(&text, country).map(|number| number.formats.e164);
        prop_assume!(plain.as_ref() == Some(&number.formats.e164));
        prop_assume!(!lookalikes::is_lookalike(&separated));
        // Google's rules may read such text as a number with an extension.
        if read_with_prefixes(&separated, country.region()).is_none() {
            let read = PhoneNumber::parse(&separated, country);
            prop_assert_eq!(read.map(|number| number.formats.e164), plain, "{:?}", separated);
        }
    }
}
