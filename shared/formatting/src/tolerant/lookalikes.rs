//! Detects dates, times, amounts of money and network addresses. Without their words and punctuation, they
//! could pass for phone numbers.

use std::{iter, net::Ipv4Addr, sync::LazyLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::notations;
use crate::text::is_letter;

/// Parts shared by several patterns.
const PARTS: [(&str, &str); 4] = [
    // The years 1900 to 2199 in the Gregorian calendar, and the same years in the Persian, Islamic and Thai calendars.
    ("YEAR", "(?:1[349]|2[015])[0-9]{2}"),
    ("DAY", "(?:0?[1-9]|[12][0-9]|3[01])"),
    // A number up to 180 with at least three decimals.
    ("DEGREES", r"(?:1[0-7]\d|180|\d?\d)[.,]\d{3,}"),
    // Abbreviated names in Western and Central European languages.
    ("MONTH", MONTH),
];
const MONTH: &str = r"(?:jan|feb|fév|mar|mär|apr|abr|avr|may|mai|maj|mei|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep|set|oct|okt|out|ott|nov|dec|dez|déc|dic)[a-z\x80-\xff]*";

// Unicode classes would take milliseconds to compile.
static NOTATIONS: LazyLock<RegexSet> = LazyLock::new(|| {
    let set = RegexSetBuilder::new(notations(include_str!("notations.txt"), &PARTS))
        .unicode(false)
        .build();
    set.expect("tests compile the patterns")
});

/// Punctuation in phone numbers that amounts of money do not have: 305-234, (305), +1.
static NUMBER_MARKS: LazyLock<Regex> = LazyLock::new(|| {
    let marks = RegexBuilder::new(r"\d-\d|\(\d{2,5}\)|\+\d").unicode(false).build();
    marks.expect("tests compile the pattern")
});

/// ISO 4217 codes, in uppercase.
const CURRENCY_CODES: &str = "\
    USD EUR GBP JPY CNY RMB CHF CAD AUD NZD INR SEK NOK DKK PLN CZK HUF RUB BRL MXN ZAR KRW \
    SGD HKD THB IDR MYR PHP VND ILS ISK RON TWD UAH TRY ARS CLP COP EGP NGN PKR SAR AED";

/// Common names for currencies and accounts, in lowercase.
const CURRENCIES: &str = "\
    dollar dollars euro euros pounds cents bucks kr zł kč руб грн 円 元 원 baht rupees pesos yen \
    yuan krone kroner krona kronor forint lei lira บาท рублей тенге konto kto blz iban";

/// Returns `true` if the text looks like something other than a phone number. Its digits must be ASCII.
pub fn is_lookalike(text: &str) -> bool {
    let marked = with_ascii_marks(text);
    let is_marked_as_number = || NUMBER_MARKS.is_match(marked.as_bytes());
    let is_money =
        || text.contains(is_currency_marker) || text.split(|c| !is_letter(c)).any(is_currency);
    (is_money() && !is_marked_as_number())
        || text.contains('°')
        || text.split(|c: char| c != '.' && !c.is_ascii_digit()).any(is_ip_address)
        || NOTATIONS.is_match(marked.as_bytes())
}

/// Adds a space at both ends, and converts spaces and apostrophes to ASCII.
fn with_ascii_marks(text: &str) -> String {
    let ascii = text.chars().map(|c| match c {
        '’' | '٬' => '\'',
        c if !c.is_ascii() && c.is_whitespace() => ' ',
        c => c,
    });
    iter::once(' ').chain(ascii).chain([' ']).collect()
}

fn is_currency_marker(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}' | '＄' | '￠' | '￡' | '￥' | '￦')
}

fn is_currency(word: &str) -> bool {
    let has_word = |words: &str, word: &str| words.split(' ').any(|known| known == word);
    has_word(CURRENCY_CODES, word) || has_word(CURRENCIES, &word.to_lowercase())
}

/// Returns `true` for an IPv4 address, unless it consists of pairs of digits such as `12.34.56.78`.
fn is_ip_address(text: &str) -> bool {
    let text = text.trim_matches('.');
    text.parse::<Ipv4Addr>().is_ok() && text.split('.').any(|part| part.len() != 2)
}
