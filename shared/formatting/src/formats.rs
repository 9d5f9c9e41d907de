//! Phone number notations.

use std::borrow::Cow;

use rlibphonenumber::{NumberFormat, interfaces::AsOriginal};
use serde::Serialize;
use utoipa::ToSchema;

use super::{first_digits, metadata::RULES, reading::Reading};

/// The text before an extension, unless the country's metadata overrides it.
const EXTENSION_PREFIX: &str = " ext. ";

/// A phone number in four formats.
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
    /// The crate writes one notation at a time, and looks up and matches the number's format twice for each.
    pub(super) fn from_reading(reading: &Reading) -> Option<Self> {
        let Reading { number, national_number, .. } = reading;
        let Groups { mut international, mut national, extension_prefix } =
            Groups::new(number.country_code, national_number)?;
        let with_plus = format!("+{}", number.country_code);
        let mut rfc3966 = with_separators(&["tel:", &with_plus].concat(), &international, '-');
        if let Some(extension) = &number.extension {
            rfc3966.extend([";ext=", extension]);
            national.extend([extension_prefix, extension]);
            international.extend([extension_prefix, extension]);
        }
        let international = with_separators(&with_plus, &international, ' ');
        Some(Self { e164: with_plus + national_number, international, national, rfc3966 })
    }
}

/// A number's digits in groups, with its country's punctuation.
struct Groups {
    international: String,
    /// Includes the national prefix if the country's numbers are written with it.
    national: String,
    /// The text before an extension.
    extension_prefix: &'static str,
}

impl Groups {
    fn new(calling_code: i32, national_number: &str) -> Option<Self> {
        let rules = RULES.as_original();
        // The main region of a calling code has the formats for all its regions.
        let region = rules.get_region_for_country_code(calling_code)?;
        let metadata = rules.get_metadata_for_region_or_calling_code(calling_code, region)?;
        let first_digits = first_digits::for_region(calling_code, region)?;

        // The first format that matches the number, and its digit groups.
        let format = |is_international: bool| {
            let (formats, first_digits) = if is_international {
                (&metadata.intl_number_format, &first_digits.international_formats)
            } else {
                (&metadata.number_format, &first_digits.national_formats)
            };
            formats.iter().zip(first_digits).find_map(|(format, first_digits)| {
                if !first_digits.allow(national_number) {
                    return None;
                }
                // The last pattern of leading digits is the most specific.
                if let Some(leading_digits) = format.leading_digits_pattern().last()
                    && !leading_digits.anchor_start().ok()??.is_match(national_number)
                {
                    return None;
                }
                let groups = format.pattern().anchor_full().ok()??.captures(national_number)?;
                Some((&format.original, groups))
            })
        };
        let national_format = format(false);
        // Enough for almost any number with its punctuation.
        let capacity = national_number.len() + 8;
        let mut national = String::with_capacity(capacity);
        match &national_format {
            Some((format, groups)) => groups.expand(&with_national_prefix(format), &mut national),
            None => national.push_str(national_number),
        }
        let has_international = !metadata.intl_number_format.is_empty();
        let international_format = has_international.then(|| format(true));
        let mut international = String::with_capacity(capacity);
        match international_format.as_ref().unwrap_or(&national_format) {
            Some((format, groups)) => groups.expand(&format.format, &mut international),
            None => international.push_str(national_number),
        }
        let extension_prefix = metadata.original.preferred_extn_prefix.as_deref();
        let extension_prefix = extension_prefix.unwrap_or(EXTENSION_PREFIX);
        Some(Self { international, national, extension_prefix })
    }
}

/// Replaces the format's first group with its national prefix rule, such as `(0$1)`.
fn with_national_prefix(format: &NumberFormat) -> Cow<'_, str> {
    let NumberFormat { format, national_prefix_formatting_rule, .. } = format;
    let rule = national_prefix_formatting_rule.as_deref().filter(|rule| !rule.is_empty());
    let (Some(rule), Some(position)) = (rule, format.find('$')) else { return format.into() };
    let (before, from_group) = format.split_at(position);
    let (group, after) = from_group.split_at(from_group.len().min(2));
    [before, &rule.replace("$1", group), after].concat().into()
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

    /// Every region's example numbers, with and without an extension, and the numbers one digit shorter, most
    /// of which are invalid.
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
