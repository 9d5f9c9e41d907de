//! Made-up records for tests, which name only the fields that they are about. A new field is added here once.

use std::{collections::BTreeMap, fmt::Debug, str::FromStr};

use super::{
    AreaCode, BlockHolder, Carrier, Country, Exchange, NpaNxx, NumberingPlan, OwnedExchanges,
    Status,
};

fn code<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().expect("a sample has a valid code")
}

impl Carrier {
    /// A US carrier without names, a type or exchanges.
    pub fn sample(ocn: &str) -> Self {
        Self {
            ocn: code(ocn),
            company_name: None,
            common_name: None,
            carrier_type: None,
            type_basis: None,
            family_line_type: None,
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges::default(),
        }
    }
}

impl AreaCode {
    /// A US area code in service, without states or exchanges.
    pub fn sample(npa: &str) -> Self {
        Self {
            npa: code(npa),
            state: None,
            states: [].into(),
            country: Some(Country::Us),
            total_exchanges: 0,
            plan: Box::<NumberingPlan>::default(),
        }
    }
}

impl Exchange {
    /// An assigned US exchange, such as `415-200`, without a known holder.
    pub fn sample(npa_nxx: &str) -> Self {
        let NpaNxx { npa, nxx } = code(npa_nxx);
        Self {
            npa,
            nxx,
            ocn: None,
            company_name: None,
            carrier_type: None,
            rate_center: None,
            state: None,
            country: Country::Us,
            status: Status::Assigned,
            blocks: BTreeMap::new(),
        }
    }
}

impl BlockHolder {
    /// A holder whose assignment is effective immediately.
    pub fn sample(ocn: &str) -> Self {
        Self {
            ocn: code(ocn),
            company_name: None,
            carrier_type: None,
            rate_center: None,
            effective: None,
        }
    }
}
