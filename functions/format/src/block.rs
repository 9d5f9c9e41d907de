//! The location and holder of a North American number's block.

use formatting::{DefaultCountry, PhoneNumber, country_name};
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{BlockHolding, CarrierType, Country, Exchange, NpaNxx, Ocn, StateCode},
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug)]
pub struct NanpParts {
    pub npa_nxx: NpaNxx,
    /// The subscriber number: the last 4 digits.
    pub nxxx: String,
}

impl NanpParts {
    /// Splits a number; `None` if it belongs to a different numbering plan.
    pub fn from_number(number: &PhoneNumber) -> Option<Self> {
        if !number.is_nanp() {
            return None;
        }
        let digits = number.national_number.as_str();
        let npa_nxx =
            NpaNxx { npa: digits.get(..3)?.parse().ok()?, nxx: digits.get(3..6)?.parse().ok()? };
        Some(Self { npa_nxx, nxxx: digits.get(6..)?.to_owned() })
    }

    /// The digit of the number's thousands block.
    pub fn block(&self) -> u8 {
        self.nxxx.bytes().next().map_or(0, |digit| digit - b'0')
    }
}

/// The NPA-NXX to look up for this number. `None` unless the number is valid, North American and geographic, because an
/// exchange's holder does not hold other kinds of numbers.
pub fn geographic_npa_nxx(number: &PhoneNumber) -> Option<NpaNxx> {
    let is_geographic = number.valid && !number.is_non_geographic;
    NanpParts::from_number(number).filter(|_| is_geographic).map(|parts| parts.npa_nxx)
}

/// Returns `true` for the ISO 3166-1 codes of Canada, the US and its territories, whose exchanges are in the reports.
pub fn is_us_or_canada(country: &str) -> bool {
    let is_territory = |state: StateCode| state.iso_country() == country;
    country.parse::<Country>().is_ok() || country.parse().is_ok_and(is_territory)
}

/// The number's location.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The rate center of the number's block. North American numbers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "MIAMI")]
    pub(crate) rate_center: Option<String>,
    /// State or province code. North American numbers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) state: Option<StateCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Florida")]
    pub(crate) state_name: Option<&'static str>,
    /// ISO 3166-1 alpha-2 code. US territories have their own codes, such as `PR`.
    #[schema(value_type = DefaultCountry)]
    country: String,
    #[schema(example = "United States")]
    pub(crate) country_name: &'static str,
}

impl Location {
    /// A block's location in the country with this ISO 3166-1 code; `None` if the code is unknown.
    pub fn new(country: &str, block: &Block) -> Option<Self> {
        Some(Self {
            rate_center: block.rate_center.clone(),
            state: block.state,
            state_name: block.state.map(StateCode::name),
            country: country.to_owned(),
            country_name: country_name(country)?,
        })
    }
}

/// The carrier that the number's block is assigned to. The number may have been ported since; open data does not
/// show porting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Carrier)]
pub struct CarrierInfo {
    /// Operating Company Number; absent if the source lists a company without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) ocn: Option<Ocn>,
    /// Company name; `null` if no source provides it.
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub(crate) name: Option<String>,
    /// `null` if no source provides it.
    #[serde(rename = "type")]
    #[schema(required)]
    pub(crate) carrier_type: Option<CarrierType>,
}

impl CarrierInfo {
    /// The holder of a block on a day; `None` if the block has no holder.
    pub fn new(exchange: &Exchange, block: u8, day: Date) -> Option<Self> {
        match exchange.holding_on(block, day) {
            BlockHolding::Exchange => {
                let (ocn, name) = (exchange.ocn, exchange.company_name.clone());
                // A source may list a company without an OCN.
                let is_held = ocn.is_some() || name.is_some();
                is_held.then_some(Self { ocn, name, carrier_type: exchange.carrier_type })
            }
            BlockHolding::Block(holder) => Some(Self {
                ocn: Some(holder.ocn),
                name: holder.company_name.clone(),
                carrier_type: holder.carrier_type,
            }),
            BlockHolding::Pending(_) | BlockHolding::Unassigned => None,
        }
    }
}

#[derive(Debug, Default)]
pub struct Block {
    pub rate_center: Option<String>,
    pub state: Option<StateCode>,
    /// The carrier that the block is assigned to. The number may have been ported.
    pub carrier: Option<CarrierInfo>,
}

impl Block {
    /// Finds the location and holder of a number's block.
    ///
    /// If the exchange has no state and its area code in the dataset has only one, uses that state. Uses a thousands
    /// block's own rate center once its assignment is effective.
    pub fn new(
        number: &PhoneNumber,
        exchange: Option<Exchange>,
        dataset: Option<&Dataset>,
        today: Date,
    ) -> Self {
        let Some(parts) = NanpParts::from_number(number) else { return Self::default() };
        let from_area_code = || {
            let area_code = dataset?.area_code(parts.npa_nxx.npa)?;
            area_code.country.and(area_code.only_state())
        };
        let state = exchange.as_ref().and_then(|it| it.state).or_else(from_area_code);
        let Some(exchange) = exchange else { return Self { state, ..Self::default() } };
        let rate_center = match exchange.holding_on(parts.block(), today) {
            BlockHolding::Block(holder) => holder.rate_center.clone(),
            _ => None,
        };
        let carrier = CarrierInfo::new(&exchange, parts.block(), today);
        Self { rate_center: rate_center.or(exchange.rate_center), state, carrier }
    }
}
