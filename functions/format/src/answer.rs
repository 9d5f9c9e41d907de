//! The format result (spec 2.5): which parts are present when, and where each comes from.

use formatting::{Formats, LONGEST_INPUT, NumberType, PhoneNumber, country_name};
use jiff::civil::Date;
use numbering::records::{CarrierType, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, StateCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::NumberingData;

/// What a phone number is. An unparseable one has only `valid`, `possible` and `input`.
#[derive(Debug, Serialize, ToSchema)]
pub struct FormatResult {
    /// Whether the number is a valid phone number.
    pub valid: bool,
    /// Whether the number could be valid, by its length.
    pub possible: bool,
    /// The number as it was understood: E.164, or the text given where it cannot be parsed.
    pub input: String,
    #[serde(flatten)]
    pub number: Option<Described>,
}

/// The description of a number that could be parsed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Described {
    /// Country calling code without the plus sign.
    #[schema(example = "1")]
    country_code: String,
    /// Country calling code with the plus sign.
    #[schema(example = "+1")]
    country_calling_code: String,
    /// ISO 3166-1 alpha-2 code; absent for numbers of no country.
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<String>,
    /// National number without country code.
    national_number: String,
    #[serde(flatten)]
    nanp: Option<NanpParts>,
    /// Present only where the number has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<String>,
    formats: Formats,
    /// Absent where no pattern fits.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    number_type: Option<NumberType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    type_description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    carrier: Option<CarrierInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Flags>,
    /// Whether the number is non-geographic: toll-free and the like.
    is_non_geographic: bool,
}

/// The three parts of a North American number.
#[derive(Debug, Serialize, ToSchema)]
pub struct NanpParts {
    /// Area code, first 3 digits.
    #[schema(value_type = String, example = "305")]
    npa: Npa,
    /// Exchange code, middle 3 digits.
    #[schema(value_type = String, example = "234")]
    nxx: Nxx,
    /// Subscriber number, last 4 digits.
    #[schema(example = "5678")]
    nxxx: String,
}

impl NanpParts {
    /// The parts of the number; `None` if it belongs to another numbering plan.
    fn of(number: &PhoneNumber) -> Option<Self> {
        if !number.is_nanp() {
            return None;
        }
        let digits = number.national_number.as_str();
        Some(Self {
            npa: digits.get(..3)?.parse().ok()?,
            nxx: digits.get(3..6)?.parse().ok()?,
            nxxx: digits.get(6..)?.to_owned(),
        })
    }
}

/// The NPA-NXX to look up for this number; `None` unless the number is valid, North American and
/// geographic, since the holders of others are not those of their exchange.
pub fn geographic_npa_nxx(number: &PhoneNumber) -> Option<NpaNxx> {
    if !number.valid || number.is_non_geographic {
        return None;
    }
    let NanpParts { npa, nxx, nxxx: _ } = NanpParts::of(number)?;
    Some(NpaNxx { npa, nxx })
}

/// Where the number belongs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_center: Option<String>,
    /// State or province code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "FL")]
    state: Option<StateCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_name: Option<&'static str>,
    country: String,
    country_name: &'static str,
}

/// Who holds the number's block.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Carrier)]
pub struct CarrierInfo {
    /// Operating Company Number; absent if the source names a company without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "6010")]
    ocn: Option<Ocn>,
    name: Option<String>,
    #[serde(rename = "type")]
    carrier_type: Option<CarrierType>,
}

/// The flags of the number's country and state.
#[derive(Debug, Serialize, ToSchema)]
pub struct Flags {
    country: Flag,
    /// US states, DC and territories only.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Flag>,
}

/// Links to the images of one flag.
#[derive(Debug, Serialize, ToSchema)]
pub struct Flag {
    name: &'static str,
    abbreviation: String,
    svg: String,
    png: Pngs,
}

/// Links to the images of one flag as PNG.
#[derive(Debug, Serialize, ToSchema)]
pub struct Pngs {
    /// 48x32 pixels.
    small: String,
    /// 240x160 pixels.
    medium: String,
    /// 480x320 pixels.
    large: String,
}

impl Flag {
    fn new(base_url: &str, folder: &str, name: &'static str, abbreviation: String) -> Self {
        let url = |rest: &str| format!("{base_url}/{folder}/{abbreviation}{rest}");
        let png = Pngs {
            small: url("-48x32.png"),
            medium: url("-240x160.png"),
            large: url("-480x320.png"),
        };
        Self { name, svg: url(".svg"), png, abbreviation }
    }
}

impl FormatResult {
    /// The result for text that cannot be parsed.
    pub(super) fn unparseable(tn: &str) -> Self {
        let input = tn.chars().take(LONGEST_INPUT).collect();
        Self { valid: false, possible: false, input, number: None }
    }

    /// The result for a number and its numbering data.
    pub(super) fn of(
        number: PhoneNumber,
        numbering_data: NumberingData,
        today: Date,
        flags_base_url: &str,
    ) -> Self {
        let country = number.country.as_deref().and_then(|code| Some((code, country_name(code)?)));
        let (rate_center, state, carrier) =
            place_and_holder(numbering_data, thousands_digit(&number), today);
        let location = country.map(|(code, name)| Location {
            rate_center,
            state: state.map(|(state, _)| state),
            state_name: state.map(|(state, _)| state.name()),
            country: code.to_owned(),
            country_name: name,
        });
        let flags = country.filter(|_| number.valid).map(|(code, name)| Flags {
            country: Flag::new(flags_base_url, "countries", name, code.to_owned()),
            state: state.filter(|&(_, country)| country == Country::Us).map(|(state, _)| {
                Flag::new(flags_base_url, "states", state.name(), state.to_string())
            }),
        });
        Self {
            valid: number.valid,
            possible: number.possible,
            input: number.formats.e164.clone(),
            number: Some(Described {
                country_code: number.country_calling_code.to_string(),
                country_calling_code: format!("+{}", number.country_calling_code),
                nanp: NanpParts::of(&number),
                type_description: number.number_type.map(NumberType::description),
                location,
                carrier,
                flags,
                country: number.country,
                national_number: number.national_number,
                extension: number.extension,
                formats: number.formats,
                number_type: number.number_type,
                is_non_geographic: number.is_non_geographic,
            }),
        }
    }
}

/// The digit that tells in which of the ten thousands blocks of its exchange the number is.
fn thousands_digit(number: &PhoneNumber) -> Option<u8> {
    number.national_number.as_bytes().get(6)?.checked_sub(b'0')
}

/// The rate center, the state with its country, and the holder of a number.
///
/// If the source names no state for the exchange, the state is that of the area code, provided that
/// the area code lies in a single one. In a pooled exchange, holder and rate center are those of
/// the number's thousands block, once its assignment is effective.
fn place_and_holder(
    numbering_data: NumberingData,
    thousands_digit: Option<u8>,
    today: Date,
) -> (Option<String>, Option<(StateCode, Country)>, Option<CarrierInfo>) {
    let NumberingData { exchange, area_code } = numbering_data;
    let from_area_code =
        area_code.and_then(|area_code| Some((area_code.only_state()?, area_code.country)));
    let Some(exchange) = exchange else { return (None, from_area_code, None) };
    let state = exchange.state.map(|state| (state, exchange.country)).or(from_area_code);
    match thousands_digit.and_then(|digit| exchange.block_on(digit, today)).cloned() {
        Some(holder) => {
            let carrier = CarrierInfo {
                ocn: Some(holder.ocn),
                name: holder.company_name,
                carrier_type: holder.carrier_type,
            };
            (holder.rate_center.or(exchange.rate_center), state, Some(carrier))
        }
        None => (exchange.rate_center.clone(), state, holder_of(exchange)),
    }
}

/// The holder of the exchange: a carrier with an OCN, or a company that the source names without
/// one.
fn holder_of(exchange: Exchange) -> Option<CarrierInfo> {
    let Exchange { ocn, company_name, carrier_type, .. } = exchange;
    if ocn.is_none() && company_name.is_none() {
        return None;
    }
    Some(CarrierInfo { ocn, name: company_name, carrier_type })
}

#[cfg(test)]
mod tests {
    use numbering::records::{AreaCode, BlockHolder, Status};

    use super::*;

    fn exchange() -> Exchange {
        Exchange {
            npa: "907".parse().unwrap(),
            nxx: "200".parse().unwrap(),
            ocn: Some("6872".parse().unwrap()),
            company_name: Some("GCI".to_owned()),
            carrier_type: Some(CarrierType::Clec),
            rate_center: Some("VALDEZ".to_owned()),
            state: None,
            country: Country::Us,
            status: Status::Assigned,
            blocks: [(
                4,
                BlockHolder {
                    ocn: "464D".parse().unwrap(),
                    company_name: None,
                    carrier_type: None,
                    rate_center: Some("JUNEAU".to_owned()),
                    effective: Some(Date::constant(2026, 7, 1)),
                },
            )]
            .into(),
        }
    }

    fn area_code(states: &[&str]) -> AreaCode {
        let states: Vec<StateCode> = states.iter().map(|state| state.parse().unwrap()).collect();
        AreaCode {
            npa: "907".parse().unwrap(),
            state: states.first().copied(),
            states: states.into_iter().collect(),
            country: Country::Us,
            total_exchanges: 1,
        }
    }

    fn rate_center_and_ocn(digit: u8, month: i8) -> (Option<String>, Option<String>) {
        let data = NumberingData { exchange: Some(exchange()), area_code: None };
        let today = Date::constant(2026, month, 1);
        let (rate_center, _, carrier) = place_and_holder(data, Some(digit), today);
        (rate_center, carrier.and_then(|carrier| carrier.ocn).map(|ocn| ocn.to_string()))
    }

    #[test]
    fn a_block_gives_holder_and_rate_center_from_its_effective_date_on() {
        let expected =
            |rate_center: &str, ocn: &str| (Some(rate_center.to_owned()), Some(ocn.to_owned()));
        assert_eq!(rate_center_and_ocn(4, 6), expected("VALDEZ", "6872"));
        assert_eq!(rate_center_and_ocn(4, 7), expected("JUNEAU", "464D"));
        assert_eq!(rate_center_and_ocn(5, 7), expected("VALDEZ", "6872"));
    }

    #[test]
    fn a_block_without_a_rate_center_has_that_of_its_exchange() {
        let mut pooled = exchange();
        pooled.blocks.get_mut(&4).unwrap().rate_center = None;
        let data = NumberingData { exchange: Some(pooled), area_code: None };
        let (rate_center, _, carrier) = place_and_holder(data, Some(4), Date::constant(2026, 7, 1));
        assert_eq!(rate_center.as_deref(), Some("VALDEZ"));
        let expected = serde_json::json!({ "ocn": "464D", "name": null, "type": null });
        assert_eq!(serde_json::to_value(carrier).unwrap(), expected);
    }

    #[test]
    fn a_company_without_an_ocn_is_the_carrier_by_its_name() {
        let carrier = |ocn: Option<&str>, company: Option<&str>| {
            let ocn = ocn.map(|ocn| ocn.parse().unwrap());
            let company_name = company.map(str::to_owned);
            let held = Exchange { ocn, company_name, carrier_type: None, ..exchange() };
            serde_json::to_value(holder_of(held)).unwrap()
        };
        let company = serde_json::json!({ "name": "AT&T CORP.", "type": null });
        assert_eq!(carrier(None, Some("AT&T CORP.")), company);
        let unnamed = serde_json::json!({ "ocn": "6872", "name": null, "type": null });
        assert_eq!(carrier(Some("6872"), None), unnamed);
        assert_eq!(carrier(None, None), serde_json::Value::Null);
    }

    #[test]
    fn an_area_code_gives_the_state_only_if_it_lies_in_a_single_one() {
        let state = |exchange: Option<Exchange>, states: &[&str]| {
            let data = NumberingData { exchange, area_code: Some(area_code(states)) };
            let (_, state, _) = place_and_holder(data, None, Date::constant(2026, 7, 1));
            state.map(|(state, _)| state.to_string())
        };
        assert_eq!(state(Some(exchange()), &["AK"]).as_deref(), Some("AK"));
        assert_eq!(state(None, &["AK"]).as_deref(), Some("AK"));
        assert_eq!(state(Some(exchange()), &["AK", "WA"]), None);
        assert_eq!(state(None, &["AK", "WA"]), None);
        assert_eq!(state(Some(exchange()), &[]), None);
    }
}
