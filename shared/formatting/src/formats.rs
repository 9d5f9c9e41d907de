//! A phone number in each notation.

use std::{borrow::Cow, slice};

use rlibphonenumber::{PhoneNumberFormat, interfaces::AsOriginal};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    beginnings::{self, Beginnings},
    metadata::RULES,
    reading::Reading,
};

/// What stands before an extension, unless the metadata has something else for the country.
const EXTENSION_PREFIX: &str = " ext. ";

/// A number in four notations (spec 2.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Formats {
    /// ITU-T E.164: plus and digits.
    #[schema(pattern = r"^\+[1-9][0-9]{1,19}$", example = "+13052345678")]
    pub e164: String,
    /// Plus, country calling code and space-separated groups.
    #[schema(pattern = r"^\+[1-9]", example = "+1 305 234 5678")]
    pub international: String,
    /// As it is dialed within its country.
    #[schema(example = "(305) 234-5678")]
    pub national: String,
    /// URI of RFC 3966.
    #[schema(pattern = r"^tel:\+", example = "tel:+1-305-234-5678")]
    pub rfc3966: String,
}

impl Formats {
    /// Writes a number as libphonenumber does, except that its international format has a single
    /// space for each run of punctuation.
    ///
    /// The crate can write one notation at a time, and looks for the pattern of the number each
    /// time. The international notation and the URI have the same pattern, and the same groups.
    pub(super) fn of(reading: &Reading) -> Option<Self> {
        let Reading { number, national_number, .. } = reading;
        let rules = RULES.as_original();
        // The main region of a calling code has the formats of all.
        let main_region = rules.get_region_for_country_code(number.country_code)?;
        let metadata =
            rules.get_metadata_for_region_or_calling_code(number.country_code, main_region)?;
        let beginnings = beginnings::of_region(number.country_code, main_region)?;
        let pattern_among = |formats: &'static [_], beginnings: &[Beginnings]| {
            let mut formats = formats.iter().zip(beginnings);
            formats.find_map(|(format, beginnings)| {
                let format = beginnings.allow(national_number).then(|| slice::from_ref(format))?;
                rules.choose_formatting_pattern_for_number(format, national_number).ok()?
            })
        };
        let national = pattern_among(&metadata.number_format, &beginnings.national_formats);
        let international = if metadata.intl_number_format.is_empty() {
            national
        } else {
            pattern_among(&metadata.intl_number_format, &beginnings.international_formats)
        };
        let written = |pattern, format| match pattern {
            Some(pattern) => rules.format_nsn_using_pattern(national_number, pattern, format).ok(),
            None => Some(Cow::Borrowed(national_number.as_str())),
        };
        let grouped = written(international, PhoneNumberFormat::International)?;
        let mut national = written(national, PhoneNumberFormat::National)?.into_owned();

        let with_plus = format!("+{}", number.country_code);
        let mut international = with_groups(&with_plus, &grouped, ' ');
        let mut rfc3966 = with_groups(&["tel:", &with_plus].concat(), &grouped, '-');
        if let Some(extension) = &number.extension {
            let prefix = metadata.original.preferred_extn_prefix.as_deref();
            let extension_in_words = [prefix.unwrap_or(EXTENSION_PREFIX), extension].concat();
            national.push_str(&extension_in_words);
            international =
                with_groups(&with_plus, &[&grouped, extension_in_words.as_str()].concat(), ' ');
            rfc3966.extend([";ext=", extension]);
        }
        Some(Self { e164: with_plus + national_number, international, national, rfc3966 })
    }
}

/// The groups of digits and letters in `text` after a prefix, with a separator before each.
fn with_groups(prefix: &str, text: &str, separator: char) -> String {
    let mut notation = String::with_capacity(prefix.len() + text.len() + 1);
    notation.push_str(prefix);
    let groups = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#'));
    for group in groups.filter(|group| !group.is_empty()) {
        notation.push(separator);
        notation.push_str(group);
    }
    notation
}

#[cfg(test)]
mod tests {
    use rlibphonenumber::{PhoneNumber as Parsed, Region};

    use super::*;

    /// The example numbers of every region, with and without an extension, and the numbers one
    /// digit shorter, which mostly are not valid.
    fn numbers() -> impl Iterator<Item = Parsed> {
        let examples = crate::metadata::tests::example_numbers(&RULES).into_iter();
        examples.flat_map(|example| {
            let with_extension = Parsed { extension: Some("123".to_owned()), ..example.clone() };
            let shorter =
                Parsed { national_number: example.national_number / 10, ..example.clone() };
            [example, with_extension, shorter]
        })
    }

    #[test]
    fn every_notation_is_that_of_the_crate() {
        for number in numbers() {
            let format = |format| RULES.format(&number, format).into_owned();
            let digits = |text: &str| text.replace(|c: char| !c.is_alphanumeric(), "");
            let e164 = format(PhoneNumberFormat::E164);
            let reading = Reading::of(&format(PhoneNumberFormat::RFC3966), Region::US).unwrap();
            if reading.number != number {
                continue;
            }
            let formats = Formats::of(&reading).unwrap();
            assert_eq!(formats.e164, e164, "{number:?}");
            assert_eq!(formats.national, format(PhoneNumberFormat::National), "{number:?}");
            assert_eq!(formats.rfc3966, format(PhoneNumberFormat::RFC3966), "{number:?}");
            let international = format(PhoneNumberFormat::International);
            assert_eq!(digits(&formats.international), digits(&international), "{number:?}");
        }
    }
}
