//! The type of line that a number is likely to be.

use formatting::{NumberType, PhoneNumber};
use numbering::records::{Carrier, LineType, TypeBasis};
use serde::Serialize;
use utoipa::ToSchema;

/// The number's likely line type, and its carrier's everyday name.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Line)]
pub struct LineInfo {
    /// `null` if nothing determines the type.
    #[serde(rename = "type")]
    #[schema(required)]
    pub(crate) line_type: Option<LineType>,
    /// What the type is based on; `null` without a type.
    #[schema(required)]
    pub(crate) basis: Option<TypeBasis>,
    /// `true` if the type is that of the carrier the number's block is assigned to. If the number was ported, it may
    /// have a different type. `null` without a type.
    #[schema(required)]
    pub(crate) may_differ_if_ported: Option<bool>,
    /// The name that people use for that carrier; `null` if it is unknown, or the same as `carrier.name`.
    #[schema(required, example = "T-Mobile")]
    pub(crate) everyday_name: Option<String>,
}

impl LineInfo {
    /// Finds a number's line type. The holder of its block is looked up only if Google's rules leave the type open, as
    /// they do in the US and Canada.
    pub fn new(number: &PhoneNumber, holder: impl FnOnce() -> Option<Carrier>) -> Self {
        if let Some(line_type) = number.number_type.and_then(from_number_type) {
            return Self {
                line_type: Some(line_type),
                basis: Some(TypeBasis::NumberRange),
                may_differ_if_ported: Some(false),
                everyday_name: None,
            };
        }
        let holder = holder();
        let (line_type, basis) = holder.as_ref().and_then(Carrier::line_type).unzip();
        Self {
            line_type,
            basis,
            may_differ_if_ported: line_type.map(|_| true),
            everyday_name: holder.and_then(|carrier| carrier.common_name),
        }
    }
}

fn from_number_type(number_type: NumberType) -> Option<LineType> {
    match number_type {
        NumberType::FixedLineOrMobile => None,
        NumberType::FixedLine => Some(LineType::Landline),
        NumberType::Mobile => Some(LineType::Wireless),
        NumberType::TollFree => Some(LineType::TollFree),
        NumberType::PremiumRate => Some(LineType::PremiumRate),
        NumberType::SharedCost => Some(LineType::SharedCost),
        NumberType::Voip => Some(LineType::Voip),
        NumberType::PersonalNumber => Some(LineType::PersonalNumber),
        NumberType::Pager => Some(LineType::Pager),
        NumberType::Uan => Some(LineType::Uan),
        NumberType::Voicemail => Some(LineType::Voicemail),
    }
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;
    use numbering::records::{CarrierType, Country, OwnedExchanges};
    use serde_json::json;

    use super::*;

    fn carrier(carrier_type: Option<CarrierType>, family_line_type: Option<LineType>) -> Carrier {
        Carrier {
            ocn: "6529".parse().unwrap(),
            company_name: None,
            common_name: Some("T-Mobile".to_owned()),
            carrier_type,
            type_basis: carrier_type.map(|_| TypeBasis::CompanyName),
            family_line_type,
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges::default(),
        }
    }

    /// A number's line: type, basis and whether it may differ.
    fn line(text: &str, holder: Option<Carrier>) -> (String, Option<String>) {
        let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
        let mut line = json!(LineInfo::new(&number, || holder));
        let name = line["everydayName"].take().as_str().map(str::to_owned);
        let facts = ["type", "basis", "mayDifferIfPorted"].map(|field| line[field].to_string());
        (facts.join(" ").replace('"', ""), name)
    }

    #[test]
    fn holders_determine_the_line_type_of_us_and_canadian_numbers() {
        use CarrierType::{Cap, Clec, Ilec, Ixc, Pcs, Wireless};
        let by_name = |line_type: &str| format!("{line_type} COMPANY_NAME true");
        for (carrier_type, family_line_type, expected) in [
            (Some(Wireless), None, by_name("WIRELESS")),
            (Some(Pcs), None, by_name("WIRELESS")),
            (Some(Ilec), None, by_name("LANDLINE")),
            (Some(Clec), None, by_name("LANDLINE_OR_VOIP")),
            (Some(Cap), None, by_name("LANDLINE_OR_VOIP")),
            (Some(Wireless), Some(LineType::Pager), by_name("PAGER")),
            (Some(Ixc), None, "null null null".to_owned()),
            (None, None, "null null null".to_owned()),
        ] {
            let found = line("305 234 5678", Some(carrier(carrier_type, family_line_type)));
            assert_eq!(found, (expected, Some("T-Mobile".to_owned())));
        }
        assert_eq!(line("305 234 5678", None), ("null null null".to_owned(), None));
    }

    #[test]
    fn number_ranges_determine_other_line_types() {
        for (text, line_type) in [
            ("+442079460958", "LANDLINE"),
            ("+447400123456", "WIRELESS"),
            ("+80012345678", "TOLL_FREE"),
            ("+18005550123", "TOLL_FREE"),
            ("+15002345678", "PERSONAL_NUMBER"),
            ("+447640123456", "PAGER"),
            // Jamaica
            ("+18762101234", "WIRELESS"),
        ] {
            let expected = (format!("{line_type} NUMBER_RANGE false"), None);
            let wireless = carrier(Some(CarrierType::Wireless), None);
            assert_eq!(line(text, Some(wireless)), expected, "{text}");
        }
    }
}
