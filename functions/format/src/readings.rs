//! Reads a phone number from a query. A literal `+` may be a plus sign, or a space encoded by a form or HTTP library.

use std::{borrow::Cow, cmp::Reverse};

use formatting::{DefaultCountry, PhoneNumber};
use percent_encoding::percent_decode_str;
use shared::{
    errors::ApiError,
    params::{Params, single_value},
};

const TN: &str = "tn";

const SCHEMES: [&str; 4] = ["tel:", "sip:", "sips:", "callto:"];
const CONTEXT: &str = ";phone-context=";

/// Characters that may precede a number's plus sign. Forms encode all of them.
const OPENING: [char; 3] = ['(', '[', '\''];

/// The most likely reading of a query value, and an alternative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readings {
    most_likely: String,
    /// A reading to use instead if it results in a better number.
    other: Option<String>,
}

pub struct Reading {
    pub text: String,
    pub number: Option<PhoneNumber>,
}

impl From<String> for Readings {
    fn from(text: String) -> Self {
        Self { most_likely: text, other: None }
    }
}

impl Readings {
    /// The readings of the `tn` parameter, which is required and must not be empty. `path` is for the error message.
    pub fn from_query(params: &Params, path: &str) -> Result<Self, ApiError> {
        let readings: Vec<Self> = params.raw_values(TN).map(Self::from_value).collect();
        let most_likely = readings.iter().map(|readings| Cow::from(&readings.most_likely));
        let tn = single_value(TN, most_likely)?.and(readings.into_iter().next());
        tn.ok_or_else(|| {
            let message = format!("{TN} is required. Usage: {path}?{TN}=<NUMBER>");
            ApiError::invalid_param(TN, message)
        })
    }

    fn from_value(value: &str) -> Self {
        // Forms never encode a space as `%20`. Clients that do leave plus signs unencoded.
        if value.contains("%20") {
            return decode_plus_signs(value).into();
        }
        // Only the last `+` can be a plus sign; earlier ones must be spaces.
        let Some((before, after)) = value.rsplit_once('+') else { return decode(value).into() };
        let with = |plus: &str| decode(&before.replace('+', " ")) + plus + &decode(after);
        let (is_sign, is_certain) = last_plus(before, after);
        let [most_likely, other] = if is_sign { ["+", " "] } else { [" ", "+"] };
        Self { most_likely: with(most_likely), other: (!is_certain).then(|| with(other)) }
    }

    pub fn best(self, country: DefaultCountry) -> Reading {
        // There is always at least one reading.
        self.ranked(country).swap_remove(0)
    }

    /// All readings, best first: valid, then possible, then parseable. On a tie, the likelier one comes first.
    pub fn ranked(self, country: DefaultCountry) -> Vec<Reading> {
        let inputs = [Some(self.most_likely), self.other].into_iter().flatten();
        let mut readings: Vec<Reading> = inputs.map(|text| Reading::new(text, country)).collect();
        readings.sort_by_key(|reading| Reverse(reading.quality()));
        readings
    }
}

impl Reading {
    fn new(text: String, country: DefaultCountry) -> Self {
        Self { number: PhoneNumber::parse(&text, country), text }
    }

    /// Greater for better numbers.
    fn quality(&self) -> Option<(bool, bool)> {
        self.number.as_ref().map(|number| (number.valid, number.possible))
    }
}

/// Treats each `+` as a plus sign, unless it directly follows a digit, where it is a space.
fn decode_plus_signs(value: &str) -> String {
    let mut text = String::new();
    for (index, part) in value.split('+').enumerate() {
        if index > 0 {
            text.push(if text.ends_with(char::is_numeric) { ' ' } else { '+' });
        }
        text.push_str(&decode(part));
    }
    text
}

/// Interprets the last `+` in a value from the encoded text around it. The first flag is `true` if it is likely a plus
/// sign rather than a space, the second if that is certain.
fn last_plus(before: &str, after: &str) -> (bool, bool) {
    let text_before = decode(before).to_lowercase();
    let follows_context = text_before.ends_with(CONTEXT);
    if before.contains('+') && !follows_context {
        return (false, true);
    }
    if is_exponent(&text_before, after) {
        return (true, true);
    }
    if follows_context || is_after_scheme(&text_before) {
        // Clients that encode colons or equals signs also encode plus signs.
        return (before.ends_with([':', '=']), false);
    }
    let is_bare = before.chars().all(|c| OPENING.contains(&c));
    let is_sign = is_bare && !has_encoded_punctuation(after);
    (is_sign, text_before.contains(char::is_alphanumeric))
}

/// Returns `true` if the `+` belongs to a spreadsheet number such as `5.55E+09`, surrounded only by punctuation.
fn is_exponent(text_before: &str, after: &str) -> bool {
    let Some(mantissa) = text_before.strip_suffix('e') else { return false };
    let before_mantissa =
        mantissa.trim_end_matches(|c: char| c.is_numeric() || matches!(c, '.' | ',' | '٫'));
    let exponent_and_rest = decode(after);
    let rest = exponent_and_rest.trim_start_matches(|c: char| c.is_ascii_digit());
    mantissa.ends_with(char::is_numeric)
        && !before_mantissa.contains(char::is_alphanumeric)
        && (1..=3).contains(&(exponent_and_rest.len() - rest.len()))
        && !rest.contains(char::is_alphanumeric)
}

/// Returns `true` if the text contains punctuation that is encoded only by clients that also encode plus signs.
fn has_encoded_punctuation(encoded: &str) -> bool {
    const ENCODED: [&str; 13] =
        ["%21", "%24", "%27", "%28", "%29", "%2A", "%2B", "%2C", "%2F", "%3A", "%3B", "%3D", "%40"];
    let upper = encoded.to_uppercase();
    ENCODED.iter().any(|code| upper.contains(code))
}

fn is_after_scheme(text: &str) -> bool {
    let before = SCHEMES.iter().find_map(|scheme| text.strip_suffix(scheme));
    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

fn decode(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    fn from_query(query: &str) -> Result<Readings, ApiError> {
        let params = Params::from_uri(&format!("/?{query}").parse().unwrap());
        Readings::from_query(&params, "/v1/format")
    }

    fn rows(table: &str) -> impl Iterator<Item = &str> {
        table.lines().filter(|row| !row.starts_with("# "))
    }

    #[test]
    fn a_plus_is_a_space_a_plus_sign_or_ambiguous() {
        for row in rows(include_str!("plus_signs.txt")) {
            let row: Vec<String> = serde_json::from_str(row).unwrap();
            let [value, most_likely, other @ ..] = &*row else { panic!("{row:?}") };
            let found = from_query(&format!("a=1&t%6E={value}")).unwrap();
            let (most_likely, other) = (most_likely.clone(), other.first().cloned());
            assert_eq!(found, Readings { most_likely, other }, "{value}");
        }
        let error = from_query("tn=").unwrap_err();
        assert_eq!(error.to_string(), "tn is required. Usage: /v1/format?tn=<NUMBER>");
        assert!(matches!(from_query("tn=305&tn=306"), Err(ApiError::InvalidRequest { .. })));
        assert_eq!(from_query("tn=305&tn=%33%30%35").unwrap(), "305".to_owned().into());
    }

    #[test]
    fn the_better_number_wins_and_ties_go_to_the_likelier_reading() {
        for row in rows(include_str!("best_readings.txt")) {
            let (value, e164) = row.split_once(' ').unwrap();
            let best = Readings::from_value(value).best(DefaultCountry::default());
            assert_eq!(best.number.unwrap().formats.e164, e164, "{value}");
        }
        for (most_likely, other, best) in [
            ("+516-607-4335", " 516-607-4335", "+516-607-4335"),
            ("+999", " abc", "+999"),
            ("+hello", " hello", "+hello"),
            ("+9995678901", " 9995678901", " 9995678901"),
            ("+", " 12", " 12"),
        ] {
            let readings =
                Readings { most_likely: most_likely.to_owned(), other: Some(other.to_owned()) };
            assert_eq!(readings.best(DefaultCountry::default()).text, best, "{most_likely}");
        }
    }

    /// The encoding of clients that keep RFC 3986's unreserved characters: `urllib.parse.quote_plus` in Python 3.11,
    /// `--data-urlencode` in curl 7.88, and `url.QueryEscape` in Go.
    const RFC_3986: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    /// The encoding in the URL standard, used by `URLSearchParams` in Node.js 20.
    const URL_STANDARD: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

    #[test]
    fn messy_cells_are_read_the_same_in_every_encoding() {
        let cells = include_str!("messy_numbers.json");
        let cells: Vec<String> = serde_json::from_str(cells).unwrap();
        let (mut valid, mut ambiguous) = (0, 0);
        for cell in &cells {
            // The HTML standard converts line breaks to CR LF before encoding.
            let form_value = cell.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
            for (sent, encoded) in
                [(cell, RFC_3986), (cell, URL_STANDARD), (&form_value, URL_STANDARD)]
            {
                let query = utf8_percent_encode(sent, encoded).to_string().replace("%20", "+");
                let best = Readings::from_value(&query).best(DefaultCountry::default());
                // Only a space may become a plus sign.
                assert_eq!(best.text.replace('+', " "), sent.replace('+', " "));
                ambiguous += usize::from(best.text != *sent);
                valid += usize::from(best.number.is_some_and(|number| number.valid));
            }
        }
        // Most cells must remain valid, and only a few may be ambiguous.
        assert!(valid > 3 * 850 && ambiguous < 30, "{valid} valid, {ambiguous} ambiguous");
    }

    proptest! {
        #[test]
        fn arbitrary_values_do_not_panic(value in any::<String>(), signs in "[+%0-9a-f=:t]{0,12}") {
            for value in [value, signs] {
                let _ = Readings::from_value(&value);
            }
        }

        #[test]
        fn form_encoded_text_is_the_most_likely_reading(text in "[+ a-df-z0-9():.]{1,20}") {
            let mut form = form_urlencoded::Serializer::new(String::new());
            let query = form.append_pair("tn", &text).finish();
            // Another encoded character or space shows that the first `+` is a space.
            let is_ambiguous = text.starts_with(' ') && !text[1..].contains([' ', '+', '(', ')', ':']);
            let most_likely = from_query(&query).unwrap().most_likely;
            prop_assert_eq!(most_likely == text, !is_ambiguous, "{}", most_likely);
        }
    }
}
