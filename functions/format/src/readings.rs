//! Reads a phone number from a query. A literal `+` may be a plus sign or a space, as forms and most HTTP libraries
//! encode it.

use std::{borrow::Cow, cmp::Reverse};

use formatting::{DefaultCountry, PhoneNumber};
use percent_encoding::percent_decode_str;
use shared::{
    errors::ApiError,
    params::{Params, single_value},
};

const TN: &str = "tn";

/// The text directly before the plus sign in a `tel:` URI.
const SCHEME: &str = "tel:";
const CONTEXT: &str = ";phone-context=";

/// Characters that may start a number. Forms encode each of them.
const OPENING: [char; 3] = ['(', '[', '\''];

/// A phone number's text, and its alternative reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readings {
    likeliest: String,
    /// The reading that is used instead if it is a better number.
    other: Option<String>,
}

/// One reading of a text, and its number; `None` if it cannot be parsed.
pub struct Reading {
    pub text: String,
    pub number: Option<PhoneNumber>,
}

impl From<String> for Readings {
    fn from(text: String) -> Self {
        Self { likeliest: text, other: None }
    }
}

impl Readings {
    /// The readings of the parameter `tn`; `None` if it is missing or empty.
    pub fn from_query(params: &Params) -> Result<Option<Self>, ApiError> {
        let readings: Vec<Self> = params.raw_values(TN).map(Self::from_value).collect();
        let likeliest = readings.iter().map(|readings| Cow::from(&readings.likeliest));
        let tn = single_value(TN, likeliest)?;
        Ok(tn.and(readings.into_iter().next()))
    }

    /// The readings of a raw query value.
    fn from_value(value: &str) -> Self {
        // Forms never write a space as `%20`; clients that do leave a plus sign as it is.
        if value.contains("%20") {
            return with_signs_between_numbers(value).into();
        }
        // Only the last `+` can be a plus sign; earlier ones are spaces.
        let Some((before, after)) = value.rsplit_once('+') else { return decoded(value).into() };
        let with = |plus: &str| decoded(&before.replace('+', " ")) + plus + &decoded(after);
        let (is_sign, is_certain) = last_plus(before, after);
        let [likeliest, other] = if is_sign { ["+", " "] } else { [" ", "+"] };
        Self { likeliest: with(likeliest), other: (!is_certain).then(|| with(other)) }
    }

    /// The reading that is the best number in this country.
    pub fn best(self, country: DefaultCountry) -> Reading {
        // A text has at least one reading.
        self.ranked(country).swap_remove(0)
    }

    /// The readings in this country, best first: valid, then possible, then parseable. Ties go to the likelier one.
    pub fn ranked(self, country: DefaultCountry) -> Vec<Reading> {
        let texts = [Some(self.likeliest), self.other].into_iter().flatten();
        let mut readings: Vec<Reading> = texts.map(|text| Reading::new(text, country)).collect();
        readings.sort_by_key(|reading| Reverse(reading.quality()));
        readings
    }
}

impl Reading {
    fn new(text: String, country: DefaultCountry) -> Self {
        Self { number: PhoneNumber::parse(&text, country), text }
    }

    /// Greater for a better number.
    fn quality(&self) -> Option<(bool, bool)> {
        self.number.as_ref().map(|number| (number.valid, number.possible))
    }
}

/// Keeps each `+` as a plus sign, except directly after a digit, where it is a space.
fn with_signs_between_numbers(value: &str) -> String {
    let mut text = String::new();
    for (index, part) in value.split('+').enumerate() {
        if index > 0 {
            text.push(if text.ends_with(char::is_numeric) { ' ' } else { '+' });
        }
        text.push_str(&decoded(part));
    }
    text
}

/// The meaning of a value's last `+`, given the encoded text around it: whether it is likely a plus sign rather than a
/// space, and whether that is certain.
fn last_plus(before: &str, after: &str) -> (bool, bool) {
    let text_before = decoded(before).to_lowercase();
    let follows_context = text_before.ends_with(CONTEXT);
    if before.contains('+') && !follows_context {
        return (false, true);
    }
    if is_exponent(&text_before, after) {
        return (true, true);
    }
    if follows_context || is_after_scheme(&text_before) {
        // A client that encodes colons or equals signs also encodes plus signs.
        return (before.ends_with([':', '=']), false);
    }
    let is_bare = before.chars().all(|c| OPENING.contains(&c));
    let is_sign = is_bare && !has_encoded_punctuation(after);
    (is_sign, text_before.contains(char::is_alphanumeric))
}

/// Returns true if the `+` belongs to a spreadsheet number such as `5.55E+09`, with only punctuation around it.
fn is_exponent(text_before: &str, after: &str) -> bool {
    let Some(mantissa) = text_before.strip_suffix('e') else { return false };
    let before_mantissa =
        mantissa.trim_end_matches(|c: char| c.is_numeric() || matches!(c, '.' | ',' | '٫'));
    let exponent_and_rest = decoded(after);
    let rest = exponent_and_rest.trim_start_matches(|c: char| c.is_ascii_digit());
    mantissa.ends_with(char::is_numeric)
        && !before_mantissa.contains(char::is_alphanumeric)
        && (1..=3).contains(&(exponent_and_rest.len() - rest.len()))
        && !rest.contains(char::is_alphanumeric)
}

/// Returns true if the text has encoded punctuation that clients leave alone unless they encode everything, including
/// plus signs.
fn has_encoded_punctuation(encoded: &str) -> bool {
    const ENCODED: [&str; 13] =
        ["%21", "%24", "%27", "%28", "%29", "%2A", "%2B", "%2C", "%2F", "%3A", "%3B", "%3D", "%40"];
    let upper = encoded.to_uppercase();
    ENCODED.iter().any(|code| upper.contains(code))
}

/// Returns true if the text ends with `tel:` as a word.
fn is_after_scheme(text: &str) -> bool {
    text.strip_suffix(SCHEME).is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

fn decoded(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    fn params(query: &str) -> Params {
        Params::from_uri(&format!("/?{query}").parse().unwrap())
    }

    fn readings(value: &str) -> Vec<String> {
        let params = params(&format!("a=1&t%6E={value}"));
        let Some(readings) = Readings::from_query(&params).unwrap() else { return Vec::new() };
        [readings.likeliest].into_iter().chain(readings.other).collect()
    }

    #[test]
    fn plus_is_a_space_a_sign_or_ambiguous() {
        for (value, expected) in [
            // From a form.
            ("+516-607-4335+", &[" 516-607-4335 "][..]),
            ("+1+305+234+5678", &[" 1 305 234 5678"]),
            ("++516-607-4335", &["  516-607-4335"]),
            ("tel%3A+516+607+4335", &["tel: 516 607 4335"]),
            ("Cell:+205-480-0075", &["Cell: 205-480-0075"]),
            ("Hotel:+516-607-4335", &["Hotel: 516-607-4335"]),
            ("%2B1+3052345678", &["+1 3052345678"]),
            ("5.55E+0009", &["5.55E 0009"]),
            ("%2B%DB%B8%DB%B1+%DB%B5", &["+۸۱ ۵"]),
            // Not from a form.
            ("+1%20305", &["+1 305"]),
            ("%20+44", &[" +44"]),
            ("Tel.%20+44", &["Tel. +44"]),
            ("%2B44", &["+44"]),
            ("+44%2020%20/%20+1%20305", &["+44 20 / +1 305"]),
            ("1+305%20234+5678", &["1 305 234 5678"]),
            ("2.1e+009", &["2.1e+009"]),
            ("2,1E+09%0D%0A", &["2,1E+09\r\n"]),
            ("%22$2.1E+09%22", &["\"$2.1E+09\""]),
            // In doubt: the likelier reading first.
            ("+442079460958", &["+442079460958", " 442079460958"]),
            ("(+44)2079460958", &["(+44)2079460958", "( 44)2079460958"]),
            ("'+442079460958", &["'+442079460958", "' 442079460958"]),
            ("TEL:+44", &["TEL:+44", "TEL: 44"]),
            ("tel%3A+44", &["tel: 44", "tel:+44"]),
            ("20;phone-context=+44", &["20;phone-context=+44", "20;phone-context= 44"]),
            ("20;Phone-Context%3D+44", &["20;Phone-Context= 44", "20;Phone-Context=+44"]),
            ("%28+516%29607-4335", &["( 516)607-4335", "(+516)607-4335"]),
            ("+%28670%29234-1359", &[" (670)234-1359", "+(670)234-1359"]),
            ("%EF%BB%BF+44", &["\u{feff} 44", "\u{feff}+44"]),
            ("%+44", &["% 44", "%+44"]),
            // Missing.
            ("", &[]),
            ("305&tn=%33%30%35", &["305"]),
        ] {
            assert_eq!(readings(value), expected, "{value}");
        }
        let refused = Readings::from_query(&params("tn=305&tn=306"));
        assert!(matches!(refused, Err(ApiError::InvalidRequest(_))));
    }

    #[test]
    fn better_number_wins_and_ties_go_to_the_likelier() {
        for (value, e164) in [
            // Next to a space or label; with a plus sign they would be valid in Peru, Colombia and Egypt.
            ("+516-607-4335+", "+15166074335"),
            ("Cell%3A+205-480-0075", "+12054800075"),
            ("+%28516%29+607-4335", "+15166074335"),
            ("Jane+Doe+516-607-4335", "+15166074335"),
            ("%22+516-607-4335%22", "+15166074335"),
            ("%EF%BC%8B%EF%BC%94%EF%BC%94+20+7946+0958", "+442079460958"),
            // An unencoded plus sign.
            ("+442079460958", "+442079460958"),
            ("tel%3A+442079460958", "+442079460958"),
            ("tel:20-7946-0958;phone-context%3D+44", "+442079460958"),
            ("Line%20two:%20+44%2020%207946%200958", "+442079460958"),
        ] {
            let best = Readings::from_value(value).best(DefaultCountry::default());
            assert_eq!(best.number.unwrap().formats.e164, e164, "{value}");
        }
        for (likeliest, other, best) in [
            ("+516-607-4335", " 516-607-4335", "+516-607-4335"),
            ("+999", " abc", "+999"),
            ("+hello", " hello", "+hello"),
            ("+9995678901", " 9995678901", " 9995678901"),
            ("+", " 12", " 12"),
        ] {
            let readings =
                Readings { likeliest: likeliest.to_owned(), other: Some(other.to_owned()) };
            assert_eq!(readings.best(DefaultCountry::default()).text, best, "{likeliest}");
        }
    }

    /// Encoded by clients that keep the unreserved characters of RFC 3986: `urllib.parse.quote_plus` of Python
    /// 3.11, `--data-urlencode` of curl 7.88, and `url.QueryEscape` of Go.
    const UNRESERVED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    /// Encoded per the URL standard, as by `URLSearchParams` of Node.js 20.
    const URL_STANDARD: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'*');

    /// The cell with a plus sign for its only space, if the space is ambiguous: it follows only punctuation, or
    /// directly follows `tel:`.
    fn with_plus_in_doubt(cell: &str) -> Option<String> {
        let (before, after) = cell.split_once(' ').filter(|(_, after)| !after.contains(' '))?;
        let is_in_doubt =
            !before.contains(char::is_alphanumeric) || before.eq_ignore_ascii_case(SCHEME);
        is_in_doubt.then(|| format!("{before}+{after}"))
    }

    /// A thousand cells of messy spreadsheets.
    #[test]
    fn messy_cells_are_read_alike_in_every_encoding() {
        let cells = include_str!("messy_numbers.json");
        let cells: Vec<String> = serde_json::from_str(cells).unwrap();
        let (mut valid, mut in_doubt) = (0, 0);
        for cell in &cells {
            // The HTML standard turns line breaks into CR LF before it encodes.
            let of_form = cell.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
            for (sent, encoded) in
                [(cell, UNRESERVED), (cell, URL_STANDARD), (&of_form, URL_STANDARD)]
            {
                let query = utf8_percent_encode(sent, encoded).to_string().replace("%20", "+");
                let best = Readings::from_value(&query).best(DefaultCountry::default());
                let plus = with_plus_in_doubt(sent).filter(|_| best.text != *sent);
                assert_eq!(best.text, plus.unwrap_or_else(|| sent.clone()));
                valid += usize::from(best.number.is_some_and(|number| number.valid));
            }
            in_doubt += usize::from(with_plus_in_doubt(cell).is_some());
        }
        // Keeps the cells valid, and the ambiguity rare.
        assert!(valid > 3 * 850 && in_doubt < 30, "{valid} valid, {in_doubt} in doubt");
    }

    proptest! {
        #[test]
        fn any_value_does_not_panic(value in any::<String>(), signs in "[+%0-9a-f=:t]{0,12}") {
            for value in [value, signs] {
                let _ = Readings::from_value(&value);
            }
        }

        #[test]
        fn form_encoded_text_is_the_likeliest_reading(text in "[+ a-df-z0-9():.]{1,20}") {
            let mut form = form_urlencoded::Serializer::new(String::new());
            let query = form.append_pair("tn", &text).finish();
            // Another encoded character or space shows that the first `+` is a space.
            let is_in_doubt = text.starts_with(' ') && !text[1..].contains([' ', '+', '(', ')', ':']);
            let likeliest = Readings::from_query(&params(&query)).unwrap().unwrap().likeliest;
            prop_assert_eq!(likeliest == text, !is_in_doubt, "{}", likeliest);
        }
    }
}
