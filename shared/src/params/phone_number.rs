//! Reads a phone number from a query, in which a literal `+` may be a plus sign or, as forms and the
//! HTTP libraries of most languages write it, a space.

use percent_encoding::percent_decode_str;

use super::{Params, single_value};
use crate::errors::ApiError;

/// What comes directly before the plus sign of a number in a `tel:` URI.
const SCHEME: &str = "tel:";
const CONTEXT: &str = ";phone-context=";

/// The characters that may open a number. Forms encode each of them.
const OPENING: [char; 3] = ['(', '[', '\''];

/// The text of a phone number, and what else it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readings {
    pub likeliest: String,
    /// What counts instead if it is a better number.
    pub other: Option<String>,
}

impl From<String> for Readings {
    fn from(text: String) -> Self {
        Self { likeliest: text, other: None }
    }
}

/// What a literal `+` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plus {
    Sign,
    Space,
    LikelySign,
    LikelySpace,
}

impl Params {
    /// The decoded value of `name`, which is a phone number; `None` if it is absent or empty.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`] if `name` has two different values.
    pub fn phone_number(&self, name: &str) -> Result<Option<Readings>, ApiError> {
        let readings = || {
            let pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
            let values = pairs.filter(|(key, _)| percent_decode_str(key).eq(name.bytes()));
            values.map(|(_, value)| Readings::of(value))
        };
        let likeliest = readings().map(|readings| readings.likeliest.into());
        Ok(single_value(name, likeliest)?.and_then(|_| readings().next()))
    }
}

impl Readings {
    /// The readings of a value as it is in the query. Only its last `+` can be a plus sign, since
    /// each `+` before another one is a space.
    fn of(value: &str) -> Self {
        let Some((before, after)) = value.rsplit_once('+') else { return decoded(value).into() };
        let with = |plus: &str| decoded(&before.replace('+', " ")) + plus + &decoded(after);
        match last_plus(before, after) {
            Plus::Sign => with("+").into(),
            Plus::Space => with(" ").into(),
            Plus::LikelySign => Self { likeliest: with("+"), other: Some(with(" ")) },
            Plus::LikelySpace => Self { likeliest: with(" "), other: Some(with("+")) },
        }
    }
}

/// What the last `+` of a value stands for, by the encoded text before and after it.
fn last_plus(before: &str, after: &str) -> Plus {
    let text_before = decoded(before).to_lowercase();
    let follows_context = text_before.ends_with(CONTEXT);
    // Forms never write a space like this, and what does write it so leaves a plus sign as it is.
    let is_no_form = [before, after].iter().any(|text| text.contains("%20"));
    let is_in_number = text_before.contains(char::is_numeric);
    if before.contains('+') && !follows_context {
        return Plus::Space;
    }
    if is_no_form && !is_in_number {
        return Plus::Sign;
    }
    if follows_context || is_after_scheme(&text_before) {
        // What encodes a colon or an equals sign also encodes a plus sign.
        let is_encoded = !before.ends_with([':', '=']);
        return if is_encoded { Plus::LikelySpace } else { Plus::LikelySign };
    }
    if is_in_number {
        return if is_no_form { Plus::LikelySpace } else { Plus::Space };
    }
    if before.chars().all(|c| OPENING.contains(&c)) { Plus::LikelySign } else { Plus::Space }
}

/// Whether the text ends with `tel:` as a word.
fn is_after_scheme(text: &str) -> bool {
    text.strip_suffix(SCHEME).is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

fn decoded(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn readings(value: &str) -> Vec<String> {
        let params = Params(format!("a=1&t%6E={value}"));
        let Some(readings) = params.phone_number("tn").unwrap() else { return Vec::new() };
        [readings.likeliest].into_iter().chain(readings.other).collect()
    }

    #[test]
    fn a_plus_is_a_space_where_the_query_shows_that_a_form_wrote_it() {
        for (value, expected) in [
            ("+516-607-4335+", " 516-607-4335 "),
            ("+1+305+234+5678", " 1 305 234 5678"),
            ("++516-607-4335", "  516-607-4335"),
            ("tel%3A+516+607+4335", "tel: 516 607 4335"),
            ("Cell:+205-480-0075", "Cell: 205-480-0075"),
            ("Cell%3A+205-480-0075", "Cell: 205-480-0075"),
            ("Hotel:+516-607-4335", "Hotel: 516-607-4335"),
            ("%28+516%29607-4335", "( 516)607-4335"),
            ("%2B1+3052345678", "+1 3052345678"),
            ("%2B%DB%B8%DB%B1+%DB%B5", "+۸۱ ۵"),
            ("1+305%20+234", "1 305  234"),
            ("%+44", "% 44"),
        ] {
            assert_eq!(readings(value), [expected], "{value}");
        }
    }

    #[test]
    fn a_plus_is_a_sign_where_the_query_shows_that_no_form_wrote_it() {
        for (value, expected) in [
            ("+1%20305", "+1 305"),
            ("%20+44", " +44"),
            ("Tel.%20+44", "Tel. +44"),
            ("tel:+44%2020", "tel:+44 20"),
            ("Cell:%20+44", "Cell: +44"),
            ("%2B44", "+44"),
        ] {
            assert_eq!(readings(value), [expected], "{value}");
        }
    }

    #[test]
    fn a_plus_in_doubt_is_read_both_ways() {
        for (value, likeliest, other) in [
            ("+442079460958", "+442079460958", " 442079460958"),
            ("(+44)2079460958", "(+44)2079460958", "( 44)2079460958"),
            ("'+442079460958", "'+442079460958", "' 442079460958"),
            ("tel:+442079460958", "tel:+442079460958", "tel: 442079460958"),
            ("TEL:+44", "TEL:+44", "TEL: 44"),
            ("tel%3A+44", "tel: 44", "tel:+44"),
            ("20;phone-context=+44", "20;phone-context=+44", "20;phone-context= 44"),
            ("20;Phone-Context%3D+44", "20;Phone-Context= 44", "20;Phone-Context=+44"),
            ("2%20or%20+44", "2 or  44", "2 or +44"),
        ] {
            assert_eq!(readings(value), [likeliest, other], "{value}");
        }
    }

    #[test]
    fn an_empty_number_counts_as_absent_and_two_numbers_are_refused() {
        assert_eq!(readings(""), [""; 0]);
        assert_eq!(readings("305&tn=%33%30%35"), ["305"]);
        let refused = Params("tn=305&tn=306".to_owned()).phone_number("tn");
        assert!(matches!(refused, Err(ApiError::InvalidRequest(_))));
    }

    proptest! {
        #[test]
        fn any_value_is_read_without_panic(value in any::<String>(), signs in "[+%0-9a-f&=:t]{0,12}") {
            for value in [value, signs] {
                let _ = Params(format!("tn={value}")).phone_number("tn");
            }
        }

        #[test]
        fn a_form_written_by_a_library_has_the_text_as_its_likeliest_reading(text in "[+ a-z0-9():.]{1,20}") {
            let mut form = form_urlencoded::Serializer::new(String::new());
            let query = form.append_pair("tn", &text).finish();
            let is_in_doubt = text.starts_with(' ') && !text[1..].contains(' ');
            let likeliest = Params(query).phone_number("tn").unwrap().unwrap().likeliest;
            prop_assert_eq!(likeliest == text, !is_in_doubt, "{}", likeliest);
        }
    }
}
