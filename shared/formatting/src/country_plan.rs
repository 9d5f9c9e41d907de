//! A country's numbering plan by Google's rules: its prefixes, and the lengths of its numbers by type.

use rlibphonenumber::interfaces::AsOriginal;

use super::{DefaultCountry, NumberType, country::country_codes, country_name, metadata::RULES};

/// A country's dialing prefixes, and the lengths of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountryPlan {
    /// ISO 3166-1 alpha-2 code, or AC, TA or XK.
    pub code: &'static str,
    pub name: &'static str,
    pub calling_code: i32,
    /// The digits before national numbers when they are dialed inside the country.
    pub trunk_prefix: Option<String>,
    /// The digits before calling codes when they are dialed inside the country; a regular expression if there are
    /// several.
    pub international_prefix: Option<String>,
    /// The types of numbers that exist, with the lengths of national numbers.
    pub types: Vec<(NumberType, Vec<i32>)>,
}

impl CountryPlan {
    /// The plans of all countries by code, except those without numbers, such as Antarctica.
    pub fn all() -> Vec<Self> {
        let mut codes: Vec<&str> = country_codes().collect();
        codes.sort_unstable();
        codes.into_iter().filter_map(Self::new).collect()
    }

    fn new(code: &'static str) -> Option<Self> {
        let region = code.parse::<DefaultCountry>().ok()?.region();
        let plan = RULES.as_original().get_metadata_for_region(region)?;
        let types = [
            (NumberType::FixedLine, &plan.fixed_line),
            (NumberType::Mobile, &plan.mobile),
            (NumberType::TollFree, &plan.toll_free),
            (NumberType::PremiumRate, &plan.premium_rate),
            (NumberType::SharedCost, &plan.shared_cost),
            (NumberType::Voip, &plan.voip),
            (NumberType::PersonalNumber, &plan.personal_number),
            (NumberType::Pager, &plan.pager),
            (NumberType::Uan, &plan.uan),
            (NumberType::Voicemail, &plan.voicemail),
        ];
        let types = types.into_iter().filter_map(|(number_type, numbers)| {
            // A type without numbers has the length -1. One without lengths has the lengths of all numbers.
            let all = &plan.general_desc.original.possible_length;
            let own = &numbers.original.possible_length;
            let lengths = if own.is_empty() { all } else { own };
            (*own != [-1]).then(|| (number_type, lengths.clone()))
        });
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let preferred = text(plan.original.preferred_international_prefix());
        Some(Self {
            code,
            name: country_name(code)?,
            calling_code: plan.original.country_code(),
            trunk_prefix: text(plan.original.national_prefix()),
            international_prefix: preferred
                .or_else(|| text(plan.international_prefix().original_base())),
            types: types.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_prefixes_types_and_lengths() {
        let plans = CountryPlan::all();
        let plan = |code: &str| plans.iter().find(|plan| plan.code == code);
        let britain = plan("GB").unwrap();
        assert_eq!((britain.calling_code, britain.trunk_prefix.as_deref()), (44, Some("0")));
        assert_eq!(britain.international_prefix.as_deref(), Some("00"));
        let mobile = (NumberType::Mobile, vec![10]);
        assert!(britain.types.contains(&mobile), "{:?}", britain.types);
        let spain = plan("ES").unwrap();
        assert_eq!(spain.trunk_prefix, None);
        assert!(!spain.types.iter().any(|(number_type, _)| *number_type == NumberType::Pager));
        assert_eq!(plan("AU").unwrap().international_prefix.as_deref(), Some("0011"));
        assert_eq!((plan("AQ"), plans.len()), (None, 245));
        assert!(plans.is_sorted_by_key(|plan| plan.code));
    }
}
