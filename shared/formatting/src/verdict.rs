//! What became of a text that should be a phone number, for whoever cleans a list of them.

use super::{
    country::DefaultCountry,
    number::PhoneNumber,
    reason::{Reason, parse_by_rules},
};

/// What became of a text that should be a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Google's rules read a valid number.
    Valid,
    /// A valid number in a text that Google's rules alone refuse, or read as another number.
    Repaired,
    Rejected(Reason),
}

impl Verdict {
    /// The verdict on `text`, which [`PhoneNumber::parse`] has read as `number` in this country.
    pub fn of(text: &str, country: DefaultCountry, number: Option<&PhoneNumber>) -> Self {
        match (number, Reason::find(text, country, number)) {
            (Some(number), None | Some(Reason::TwoNumbers)) => {
                let is_plain = is_read_by_the_rules_alone(text, country, number);
                if is_plain { Self::Valid } else { Self::Repaired }
            }
            (_, reason) => Self::Rejected(reason.unwrap_or(Reason::NotANumber)),
        }
    }
}

fn is_read_by_the_rules_alone(text: &str, country: DefaultCountry, number: &PhoneNumber) -> bool {
    // Most lists have been cleaned once, and reading costs as much as all else here.
    if text == number.formats.e164 {
        return true;
    }
    let Some(Ok(read)) = parse_by_rules(text, country) else { return false };
    read.country_code == number.country_calling_code
        && rlibphonenumber::get_national_significant_number_owned(&read) == number.national_number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(text: &str, country: &str) -> Verdict {
        let country = country.parse().unwrap();
        Verdict::of(text, country, PhoneNumber::parse(text, country).as_ref())
    }

    #[test]
    fn what_the_rules_read_is_valid_in_any_notation() {
        for text in [
            "+13052345678",
            "(305) 234-5678",
            "305.234.5678 ext. 42",
            "011 44 20 7946 0958",
            "tel:+1-305-234-5678",
            "1-800-FLOWERS",
        ] {
            assert_eq!(verdict(text, "US"), Verdict::Valid, "{text}");
        }
        assert_eq!(verdict("020 7946 0958", "GB"), Verdict::Valid);
    }

    #[test]
    fn what_only_the_tolerant_reader_reads_is_repaired() {
        for text in ["305_234_5678", "305;234;5678", "00 44 20 7946 0958", "305·234·5678"] {
            assert_eq!(verdict(text, "US"), Verdict::Repaired, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_verdict_agrees_with_the_number(text in any::<String>(), digits in "[+0-9 ()x;_·-]{0,30}") {
            let country = DefaultCountry::default();
            for text in [text, digits] {
                let number = PhoneNumber::parse(&text, country);
                let is_valid = number.as_ref().is_some_and(|number| number.valid);
                let rejected = matches!(Verdict::of(&text, country, number.as_ref()), Verdict::Rejected(_));
                prop_assert_eq!(is_valid, !rejected);
            }
        }
    }
}
