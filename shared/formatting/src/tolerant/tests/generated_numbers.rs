//! Generates numbers from ten countries as phone systems, contacts and people write them.

use proptest::{prelude::*, sample::select};

use super::search::{any_of, check, is_valid_by_google};
use crate::{DefaultCountry, Formats, PhoneNumber, Reason};

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
    let lines = include_str!("../telephone_lines.txt").lines();
    let patterns = lines.filter(|line| !line.is_empty() && !line.starts_with("# "));
    any_of(patterns.map(|pattern| pattern.replace("HOST", HOST)).collect())
}

#[test]
fn lines_of_call_logs_contacts_and_sip_headers_are_read() {
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

#[test]
fn pauses_waits_and_options_are_extensions() {
    let endings = any_of(vec!["(p|w| p| w| opt\\. | option |,,| ext )[1-9][0-9]{0,4}".to_owned()]);
    check(500, (numbers(), endings, any::<bool>()), |((country, number), ending, is_e164)| {
        let Formats { e164, national, .. } = &number.formats;
        let line = if is_e164 { e164 } else { national }.clone() + &ending;
        // Google's rules ignore single letters, so this may be a longer number.
        let is_longer = ending.contains(['p', 'w']) && !ending.contains("opt");
        prop_assume!(!is_longer || !is_valid_by_google(&line, country));
        let read = PhoneNumber::parse(&line, country);
        let read = read.map(|read| (read.valid, read.formats.e164, read.extension));
        prop_assert_eq!(read, Some((true, e164.clone(), Some(digits(&ending)))), "{}", line);
        Ok(())
    });
}

#[test]
fn a_second_number_with_other_last_digits_is_read() {
    let separators = select(vec!["/", " / ", " or ", " oder ", " and "]);
    let lines = (numbers(), separators, "[0-9]{1,4}").prop_filter_map(
        "is valid as typed, or has no second number",
        |((country, number), separator, ending)| {
            let Formats { e164, international, .. } = number.formats;
            let line = format!("{international}{separator}{ending}");
            let second = e164[..e164.len() - ending.len()].to_owned() + &ending;
            let is_valid = |text: &str| is_valid_by_google(text, country);
            let has_second = second != e164 && is_valid(&second) && !is_valid(&line);
            has_second.then_some((country, line, e164, second))
        },
    );
    check(500, lines, |(country, line, e164, second)| {
        let read = PhoneNumber::parse(&line, country);
        let read = read.map(|read| (read.valid, read.formats.e164, read.other));
        prop_assert_eq!(read, Some((true, e164, Some(second))), "{}", line);
        Ok(())
    });
}

/// Holds even if Google's rules accept the text by reading X as 9, or by dropping the masked digits.
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
