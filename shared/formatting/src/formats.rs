//! Phone number notations.

use std::borrow::Cow;

use rlibphonenumber::{PhoneNumberFormat, interfaces::AsOriginal};
use serde::Serialize;
use utoipa::ToSchema;

use super::{metadata::RULES, reading::Reading};

/// The text before an extension, unless the country's metadata overrides it.
const EXTENSION_PREFIX: &str = " ext. ";

/// A number in four notations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Formats {
    /// ITU-T E.164: a plus sign and digits.
    #[schema(pattern = r"^\+[1-9][0-9]{1,19}$", example = "+13052345678")]
    pub e164: String,
    /// A plus sign, the country calling code and space-separated groups.
    #[schema(pattern = r"^\+[1-9]", example = "+1 305 234 5678")]
    pub international: String,
    /// As dialed within the number's country.
    #[schema(example = "(305) 234-5678")]
    pub national: String,
    /// RFC 3966 URI.
    #[schema(pattern = r"^tel:\+", example = "tel:+1-305-234-5678")]
    pub rfc3966: String,
}

impl Formats {
    /// Formats a number as libphonenumber does, except that the international format replaces each run of
    /// punctuation with a single space.
    ///
    /// The crate writes one notation at a time, and each time looks up the number's format.
    pub(super) fn from_reading(reading: &Reading) -> Option<Self> {
        let Reading { number, national_number, .. } = reading;
        let calling_code = number.country_code;
        let rules = RULES.as_original();
        // The main region of a calling code has the formats for all its regions.
        let region = rules.get_region_for_country_code(calling_code)?;
        let metadata = rules.get_metadata_for_region_or_calling_code(calling_code, region)?;
        let write = |format| rules.format_nsn(national_number, metadata, format);
        let mut national = write(PhoneNumberFormat::National).map(Cow::into_owned).ok()?;
        let mut international =
            write(PhoneNumberFormat::International).map(Cow::into_owned).ok()?;
        let with_plus = format!("+{calling_code}");
        let mut rfc3966 = with_separators(&["tel:", &with_plus].concat(), &international, '-');
        if let Some(extension) = &number.extension {
            let prefix = metadata.original.preferred_extn_prefix.as_deref();
            let prefix = prefix.unwrap_or(EXTENSION_PREFIX);
            rfc3966.extend([";ext=", extension]);
            national.extend([prefix, extension]);
            international.extend([prefix, extension]);
        }
        let international = with_separators(&with_plus, &international, ' ');
        Some(Self { e164: with_plus + national_number, international, national, rfc3966 })
    }
}

/// The groups of digits and letters in `text` after a prefix, each preceded by a separator.
fn with_separators(prefix: &str, text: &str, separator: char) -> String {
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
    use rlibphonenumber::{PhoneNumber as Parsed, PhoneNumberFormat, Region};

    use super::*;

    /// A number of every region, with and without an extension, and one digit shorter, which is usually invalid.
    fn numbers() -> impl Iterator<Item = Parsed> {
        let examples = include_str!("../tests/agreement/one_of_each_region.txt").lines();
        examples.filter_map(|text| RULES.parse(text, None).ok()).flat_map(|example| {
            let with_extension = Parsed { extension: Some("123".to_owned()), ..example.clone() };
            let shorter =
                Parsed { national_number: example.national_number / 10, ..example.clone() };
            [example, with_extension, shorter]
        })
    }

    #[test]
    fn every_notation_matches_rlibphonenumber() {
        for number in numbers() {
            let format = |format| RULES.format(&number, format).into_owned();
            let e164 = format(PhoneNumberFormat::E164);
            let reading = Reading::parse(&format(PhoneNumberFormat::RFC3966), Region::US).unwrap();
            if reading.number != number {
                continue;
            }
            let formats = Formats::from_reading(&reading).unwrap();
            assert_eq!(formats.e164, e164, "{number:?}");
            assert_eq!(formats.national, format(PhoneNumberFormat::National), "{number:?}");
            assert_eq!(formats.rfc3966, format(PhoneNumberFormat::RFC3966), "{number:?}");
            let international = format(PhoneNumberFormat::International);
            let spaced = international.replace(['-', '(', ')', '.', '/'], " ");
            let spaced: Vec<&str> = spaced.split_whitespace().collect();
            assert_eq!(formats.international, spaced.join(" "), "{number:?}");
        }
    }
}
