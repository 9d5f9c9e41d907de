//! Phone numbers in text, as Google's `PhoneNumberMatcher` finds them.

use std::{iter, ops::Range, sync::LazyLock};

use rlibphonenumber::{
    PhoneNumberUtil, Region,
    phonenumber_matcher::{self as matcher, PhoneNumberMatcherFactory},
};
use strum::{EnumString, VariantNames};
use utoipa::ToSchema;

use super::{
    country::DefaultCountry,
    masks,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberInText {
    /// In bytes.
    pub range: Range<usize>,
    pub number: PhoneNumber,
}

/// An unexpected failure in the rules, which has been logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the phone number rules failed on this text")]
pub struct RulesError;

/// Compiled on first use.
static MATCHERS: LazyLock<PhoneNumberMatcherFactory<PhoneNumberUtil, &PhoneNumberUtil>> =
    LazyLock::new(|| PhoneNumberMatcherFactory::new_for_util(&RULES));

/// Finds the numbers in text lazily, in order. `country` applies to numbers without a country code.
/// Skips numbers with masked digits. After an error, iteration ends.
pub fn find_numbers(
    text: &str,
    country: DefaultCountry,
    leniency: Leniency,
) -> impl Iterator<Item = Result<NumberInText, RulesError>> {
    let mut search = Some(Search { text, position: 0, region: country.region(), leniency });
    iter::from_fn(move || {
        let found = catch_panic(|| Some(search.as_mut()?.next()));
        if found.is_none() && search.take().is_some() {
            return Some(Err(RulesError));
        }
        found?.map(Ok)
    })
}

struct Search<'t> {
    text: &'t str,
    position: usize,
    region: Region,
    leniency: Leniency,
}

impl Search<'_> {
    /// Starts a new search after the last match. It finds the same numbers as one continuous search, since neither
    /// looks at what comes before a digit.
    fn next(&mut self) -> Option<NumberInText> {
        loop {
            let mut matches = MATCHERS
                .matcher_builder(&self.text[self.position..])
                .leniency(self.leniency.into())
                .preferred_region(self.region)
                .build();
            let found = matches.next()?;
            let range = self.position + found.start..self.position + found.end();
            let reading = Reading::from_parsed(found.raw_string, found.number);
            self.position = range.end;
            let reading = reading.filter(|reading| !self.is_masked(&range, reading));
            if let Some(number) = reading.and_then(|reading| describe(reading.into())) {
                return Some(NumberInText { range, number });
            }
        }
    }

    fn is_masked(&self, range: &Range<usize>, reading: &Reading) -> bool {
        let number = &self.text[range.clone()];
        (masks::has_mask(number) && !masks::are_notation(number, reading, self.region))
            || masks::complete_number(self.text, range, self.region)
    }
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

    #[test]
    fn listed_numbers_are_found_in_text() {
        let rows = include_str!("numbers_in_text.txt").lines();
        for row in rows.filter(|row| !row.starts_with('#')) {
            let row: Vec<String> = serde_json::from_str(row).unwrap();
            let [country, leniency, text, expected @ ..] = &row[..] else { panic!("{row:?}") };
            let (country, leniency) = (country.parse().unwrap(), leniency.parse().unwrap());
            let found = find_numbers(text, country, leniency).map(|found| {
                let NumberInText { range, number } = found.unwrap();
                let extension = number.extension.map(|digits| format!(" ext {digits}"));
                text[range].to_owned() + &extension.unwrap_or_default()
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
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
