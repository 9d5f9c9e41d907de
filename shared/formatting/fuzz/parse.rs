//! Parses arbitrary bytes as a phone number, and checks the result's invariants. The first two bytes select the default
//! country, and the rest is the text. `.ci/fuzz` runs this.

#![no_main]

use std::panic;

use formatting::{DefaultCountry, Formats, MAX_INPUT_LENGTH, PhoneNumber, country_name};
use libfuzzer_sys::fuzz_target;

/// Google's rules write extensions of any length after `x` or `#`, but read only this many digits.
const MAX_EXTENSION_LENGTH_AFTER_X: usize = 9;

fuzz_target!(
    // libFuzzer's panic hook aborts before the crate can catch a panic from its library. Without the hook, a
    // failed assertion still aborts once it unwinds out of the target.
    init: drop(panic::take_hook()),
    |bytes: &[u8]| {
        let Some((code, text)) = bytes.split_first_chunk() else { return };
        let (country, text) = (default_country(*code), String::from_utf8_lossy(text));
        if let Some(number) = PhoneNumber::parse(&text, country) {
            assert!(text.chars().count() <= MAX_INPUT_LENGTH);
            assert_consistent(&number);
            assert_round_trips(&number, country);
        }
    }
);

/// The country with this code. Other bytes map to capital letters, and unknown codes to the United
/// States.
fn default_country(code: [u8; 2]) -> DefaultCountry {
    let letters = code.map(|byte| b'A' + byte.wrapping_sub(b'A') % 26);
    str::from_utf8(&letters).unwrap().parse().unwrap_or_default()
}

fn digits(text: &str) -> String {
    text.chars().filter(|c| c.is_numeric()).collect()
}

/// Checks the invariants between a number's fields.
fn assert_consistent(number: &PhoneNumber) {
    let PhoneNumber { national_number, formats, .. } = number;
    let is_digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    assert!(is_digits(national_number) && (2..=17).contains(&national_number.len()), "{number:?}");

    let calling_code = number.country_calling_code;
    assert_eq!(formats.e164, format!("+{calling_code}{national_number}"), "{number:?}");
    assert!(formats.international.starts_with(&format!("+{calling_code}")), "{number:?}");
    assert!(!formats.international.contains("  "), "{number:?}");
    assert!(formats.rfc3966.starts_with(&format!("tel:+{calling_code}")), "{number:?}");
    assert!(!formats.national.is_empty(), "{number:?}");

    let extension = number.extension.as_deref().unwrap_or_default();
    assert!(extension.chars().all(char::is_numeric), "{number:?}");
    let with_extension = digits(&formats.e164) + extension;
    assert_eq!(digits(&formats.international), with_extension, "{number:?}");
    assert_eq!(digits(&formats.rfc3966), with_extension, "{number:?}");

    assert_eq!(number.valid, number.number_type.is_some(), "{number:?}");
    assert!(number.possible || !number.valid, "{number:?}");
    assert!(number.country.is_some() || number.is_non_geographic || !number.valid, "{number:?}");
    assert!(
        number.country.as_deref().is_none_or(|code| country_name(code).is_some()),
        "{number:?}"
    );
}

/// Checks that each notation of a valid number parses back to that number, whatever the default country. The
/// national notation is excluded: Gabon writes `06 23 45 67` for two numbers.
fn assert_round_trips(number: &PhoneNumber, country: DefaultCountry) {
    if !number.valid {
        return;
    }
    let number = &PhoneNumber { other: None, dialing_code: None, ..number.clone() };
    let Formats { e164, international, rfc3966, .. } = &number.formats;
    let extension_digits = number.extension.as_deref().map_or(0, |digits| digits.chars().count());
    let mut notations = vec![rfc3966];
    if extension_digits <= MAX_EXTENSION_LENGTH_AFTER_X {
        notations.push(international);
    }
    if extension_digits == 0 {
        notations.push(e164);
    }
    for notation in notations {
        for country in [country, DefaultCountry::default()] {
            assert_eq!(PhoneNumber::parse(notation, country).as_ref(), Some(number), "{notation}");
        }
    }
}
