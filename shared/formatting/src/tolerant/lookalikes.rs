//! Text that looks like a phone number but is a date, a time, an amount of money or a network address. Without
//! its words and punctuation it could pass for a number.

use std::{iter, net::Ipv4Addr, sync::LazyLock};

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::text::is_letter;

/// Years from 1900 to 2199 in the Gregorian calendar, and years in the Persian, Islamic and Thai ones.
const YEAR: &str = "(?:1[349]|2[015])[0-9]{2}";
const DAY_OR_MONTH: &str = "(?:0?[1-9]|[12][0-9]|3[01])";
/// A decimal number up to 180 with at least three digits after its point.
const DEGREES: &str = r"(?:1[0-7]\d|180|\d?\d)[.,]\d{3,}";
/// The abbreviated month names in Western and Central European languages.
const MONTH: &str = r"(?:jan|feb|fév|mar|mär|apr|abr|avr|may|mai|maj|mei|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep|set|oct|okt|out|ott|nov|dec|dez|déc|dic)[a-z\x80-\xff]*";

/// Patterns of other notations, in bytes. A pattern that starts or ends with `\D` also matches at the start or
/// end of a text.
fn patterns() -> [String; 21] {
    [
        // Office hours, and a company name
        r"\D24/7\D|\D\d&\d\D".to_owned(),
        // 9:15, 09:15:30.123, 00:09:15:24, 20261122-091530
        r"[^\d:]\d{1,2}(?::\d{2}){1,3}(?:[.,]\d+)?[^\d:]".to_owned(),
        r"\D(?:19|20)\d{6}[-T_ ]\d{6}\D|\D(?:\d\d\.){2}\d\d,\d{3,}\D".to_owned(),
        // 2026-11-22, 22.11.2026, 22 Nov 2026, 22 de noviembre de 2026, Nov. 22, 2026
        format!(r"\D{YEAR}(?:[-./] ?{DAY_OR_MONTH}){{2}}\D"),
        format!(r"\D(?:{DAY_OR_MONTH}[-./] ?){{2}}{YEAR}\D"),
        format!(r"\D(?:{DAY_OR_MONTH} ){{2}}(?:19|20)\d{{2}}(?: \d{{2}})*\D"),
        format!(r"(?i)\D{DAY_OR_MONTH}\.?[- ](?:de )?{MONTH}[-., ]{{1,2}}(?:de )?{YEAR}\D"),
        format!(r"(?i)\b{MONTH}\.? {DAY_OR_MONTH},? {YEAR}\D"),
        // Integers with thousands separators: 1,234,567.89, 1'234'567, 12,34,567
        r"^\D*\d{1,3}(?:[,']\d{2,3})*[,']\d{3}(?:\.\d+)?\D*$|^\s*\d{1,3}(?:_\d{3}){2,}\s*$".to_owned(),
        // 1.234.567,89, 1 234 567,8
        r"\D\d{1,3}(?:[.'\s]\d{3})+,\d{1,2}\D".to_owned(),
        // 1234567,89, 1234567.5
        r"^\D*\d{4,}[.,]\d{1,2}\D*$".to_owned(),
        // 9.029.342.299, 5 823 294 299, 1234567/-
        r"[^\d+]\d{1,2}(?:[._\s']\d{3}){3,}\D|\d/-\D".to_owned(),
        // Latitude and longitude: 40.7128, -74.0060
        format!(r"\D{DEGREES}\D*[^\d.]\D*{DEGREES}\D"),
        r#"(?i)\b(?:lat(?:itude)?|lon(?:gitude)?|lng)\b[ :=]*-?\d|\d\.\d+["' ]*[NSEW]\W"#.to_owned(),
        // 662836:429585, 01:23:45:67:89:10
        r"(?i)[^\da-f:][\da-f]{6}:[\da-f]{6}[^\da-f:]".to_owned(),
        r"(?i)[^\da-f:](?:[\da-f]{2}:){5}[\da-f]{2}[^\da-f:]".to_owned(),
        // A UUID
        r"(?i)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}".to_owned(),
        // An IBAN (15 characters or more)
        r"\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7} ?[A-Z\d]{3}".to_owned(),
        // A payment card
        r"\D(?:\d{4}[-_: ]){3}\d{1,7}\D|\D\d{4}[-_: ]\d{6}[-_: ]\d{4,5}\D|\*\*".to_owned(),
        // 10.0.19045.3693-beta, kernel 6.1.55-142-generic
        r"(?i)\b(?:kernel|chrome|firmware|version)[ /]?v?\d+\.\d".to_owned(),
        r"(?i)\D\d+(?:\.\d+)+[-_+]?(?:alpha|beta|rc|dev|pre|snapshot|release|build|final)[.\d]*[^a-z]"
            .to_owned(),
    ]
}

// Unicode classes would take milliseconds to compile.
static NOTATIONS: LazyLock<RegexSet> = LazyLock::new(|| {
    let set = RegexSetBuilder::new(patterns()).unicode(false).build();
    set.expect("tests have compiled the patterns")
});

/// Signs of phone numbers that amounts of money lack: 305-234, (305), +1.
static NUMBER_MARKS: LazyLock<Regex> = LazyLock::new(|| {
    let marks = RegexBuilder::new(r"\d-\d|\(\d{2,5}\)|\+\d").unicode(false).build();
    marks.expect("tests have compiled the pattern")
});

/// ISO 4217, in upper case.
const CURRENCY_CODES: &str = "\
    USD EUR GBP JPY CNY RMB CHF CAD AUD NZD INR SEK NOK DKK PLN CZK HUF RUB BRL MXN ZAR KRW \
    SGD HKD THB IDR MYR PHP VND ILS ISK RON TWD UAH TRY ARS CLP COP EGP NGN PKR SAR AED";

/// Common names of currencies and accounts, in lower case.
const CURRENCIES: &str = "\
    dollar dollars euro euros pounds cents bucks kr zł kč руб грн 円 元 원 baht rupees pesos yen \
    yuan krone kroner krona kronor forint lei lira บาท рублей тенге konto kto blz iban";

/// Returns `true` if the text looks like something else. Its digits must be ASCII.
pub fn is_lookalike(text: &str) -> bool {
    let marked = with_ascii_marks(text);
    let is_marked_as_number = || NUMBER_MARKS.is_match(marked.as_bytes());
    let is_money =
        || text.contains(is_sign_of_money) || text.split(|c| !is_letter(c)).any(is_currency);
    (is_money() && !is_marked_as_number())
        || text.contains('°')
        || text.split(|c: char| c != '.' && !c.is_ascii_digit()).any(is_ip_address)
        || NOTATIONS.is_match(marked.as_bytes())
}

/// Adds a space on both sides, and converts spaces and apostrophes to ASCII.
fn with_ascii_marks(text: &str) -> String {
    let ascii = text.chars().map(|c| match c {
        '’' | '٬' => '\'',
        c if !c.is_ascii() && c.is_whitespace() => ' ',
        c => c,
    });
    iter::once(' ').chain(ascii).chain([' ']).collect()
}

fn is_sign_of_money(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}' | '＄' | '￠' | '￡' | '￥' | '￦')
}

fn is_currency(word: &str) -> bool {
    let is_in = |words: &str, word: &str| words.split(' ').any(|known| known == word);
    is_in(CURRENCY_CODES, word) || is_in(CURRENCIES, &word.to_lowercase())
}

/// Returns `true` for an IPv4 address, but not for pairs of digits such as `12.34.56.78`.
fn is_ip_address(text: &str) -> bool {
    let text = text.trim_matches('.');
    text.parse::<Ipv4Addr>().is_ok() && text.split('.').any(|part| part.len() != 2)
}
