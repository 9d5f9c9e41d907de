//! Phone numbers in text, as Google's `PhoneNumberMatcher` finds them.

use std::{iter, ops::Range, sync::LazyLock};

use rlibphonenumber::{
    PhoneNumberUtil,
    phonenumber_matcher::{self as matcher, PhoneNumberMatcherFactory},
};
use strum::{EnumString, VariantNames};
use utoipa::ToSchema;

use super::{
    country::DefaultCountry,
    metadata::RULES,
    number::{PhoneNumber, catch_panic, describe},
    reading::Reading,
};

/// The strictness of a search for numbers.
#[derive(EnumString, VariantNames, ToSchema)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
#[schema(rename_all = "snake_case")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Leniency {
    /// It has a possible length, even if it is not valid.
    Possible,
    /// It is valid, and has its national prefix if one is usual.
    #[default]
    Valid,
    /// It is also grouped in a way that is possible in its country: `650 2530000`, but not `65 02 53 00 00`.
    StrictGrouping,
    /// It is also grouped in the usual way of its country, or not at all: `650 253 0000` or `6502530000`.
    ExactGrouping,
}

/// A number and its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberInText {
    /// In bytes.
    pub range: Range<usize>,
    pub number: PhoneNumber,
}

/// The rules failed unexpectedly, which is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the phone number rules failed on this text")]
pub struct RulesFailed;

/// Compiled on first use.
static MATCHERS: LazyLock<PhoneNumberMatcherFactory<PhoneNumberUtil, &PhoneNumberUtil>> =
    LazyLock::new(|| PhoneNumberMatcherFactory::new_for_util(&RULES));

/// Finds the numbers in a text, in order, each when it is asked for. `country` is for numbers without a country code.
/// An error is the last item.
pub fn find_numbers(
    text: &str,
    country: DefaultCountry,
    leniency: Leniency,
) -> impl Iterator<Item = Result<NumberInText, RulesFailed>> {
    let matches = MATCHERS
        .matcher_builder(text)
        .leniency(leniency.into())
        .preferred_region(country.region())
        .build();
    let mut numbers = Some(matches.filter_map(|found| {
        let range = found.start..found.end();
        let number = describe(Reading::from_parsed(found.raw_string, found.number)?.into())?;
        Some(NumberInText { range, number })
    }));
    iter::from_fn(move || {
        let found = catch_panic(|| Some(numbers.as_mut()?.next()));
        if found.is_none() && numbers.take().is_some() {
            return Some(Err(RulesFailed));
        }
        found?.map(Ok)
    })
}

impl From<Leniency> for matcher::Leniency {
    fn from(leniency: Leniency) -> Self {
        match leniency {
            Leniency::Possible => Self::Possible,
            Leniency::Valid => Self::Valid,
            Leniency::StrictGrouping => Self::StrictGrouping,
            Leniency::ExactGrouping => Self::ExactGrouping,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The numbers in a text, each as typed and in E.164 with its extension.
    fn find(text: &str, country: &str, leniency: Leniency) -> Vec<String> {
        let numbers = find_numbers(text, country.parse().unwrap(), leniency).map(|found| {
            let NumberInText { range, number } = found.unwrap();
            let extension = number.extension.map(|digits| format!(" x{digits}"));
            format!("{} {}{}", &text[range], number.formats.e164, extension.unwrap_or_default())
        });
        numbers.collect()
    }

    #[test]
    fn numbers_are_found_with_their_extensions() {
        for (text, expected) in [
            (
                "Call (305) 234-5678 or +44 20 7946 0958.",
                &["(305) 234-5678 +13052345678", "+44 20 7946 0958 +442079460958"][..],
            ),
            (
                "305-234-5678 x12 / 212-234-5678 ext. 5",
                &["305-234-5678 x12 +13052345678 x12", "212-234-5678 ext. 5 +12122345678 x5"],
            ),
            (
                "305-234-5678x12; 212-234-5678x5",
                &["305-234-5678x12 +13052345678 x12", "212-234-5678x5 +12122345678 x5"],
            ),
            (
                "305 234 5678, 212 234 5678",
                &["305 234 5678 +13052345678", "212 234 5678 +12122345678"],
            ),
            ("on 2026-11-24, 10:30; $305-234-5678; a3052345678; 305 234 567", &[]),
            ("電話：０３－１２３４－５６７８", &[]),
            ("", &[]),
        ] {
            assert_eq!(find(text, "US", Leniency::Valid), expected, "{text}");
        }
        let japanese = find("電話：０３－１２３４－５６７８", "JP", Leniency::Valid);
        assert_eq!(japanese, ["０３－１２３４－５６７８ +81312345678"]);
    }

    #[test]
    fn leniency_decides_on_validity_and_grouping() {
        use Leniency::{ExactGrouping, Possible, StrictGrouping, Valid};
        for (text, accepted) in [
            ("305 155 5678", &[Possible][..]),
            ("65 02 53 00 00", &[Possible, Valid]),
            ("650 2530000", &[Possible, Valid, StrictGrouping]),
            ("650 253 0000", &[Possible, Valid, StrictGrouping, ExactGrouping]),
            ("6502530000", &[Possible, Valid, StrictGrouping, ExactGrouping]),
        ] {
            for leniency in [Possible, Valid, StrictGrouping, ExactGrouping] {
                let is_found = !find(text, "US", leniency).is_empty();
                assert_eq!(is_found, accepted.contains(&leniency), "{text}: {leniency:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn found_numbers_are_in_order_and_do_not_overlap(
            text in r"([0-9+() ./x\-]{0,12}|tel:|;ext=|\PC|, |305 234 5678){0,20}",
        ) {
            for leniency in [Leniency::Possible, Leniency::Valid, Leniency::ExactGrouping] {
                let found = find_numbers(&text, DefaultCountry::default(), leniency);
                let found: Vec<_> = found.map(Result::unwrap).collect();
                let is_found = |range: &Range<usize>| text.get(range.clone()).is_some();
                prop_assert!(found.iter().all(|it| is_found(&it.range)));
                prop_assert!(found.windows(2).all(|two| two[0].range.end <= two[1].range.start));
                let are_valid = found.iter().all(|it| it.number.valid);
                prop_assert!(are_valid || leniency == Leniency::Possible);
            }
        }
    }
}
