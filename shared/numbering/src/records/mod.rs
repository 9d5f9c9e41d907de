//! The numbering records as the store keeps them and the API answers them (spec sections 2 and 3).

mod codes;
mod place;
mod version;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};
use utoipa::ToSchema;

pub use codes::{CodeError, Npa, NpaNxx, Nxx, Ocn};
pub use place::{Country, State, UnknownState};
pub use version::Version;

/// What a carrier is licensed or known as (spec 2.3).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    VariantNames,
    ToSchema,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub enum CarrierType {
    /// Incumbent Local Exchange Carrier
    Ilec,
    /// Competitive Local Exchange Carrier
    Clec,
    /// Mobile/cellular carrier
    Wireless,
    /// Competitive Access Provider
    Cap,
    /// Interexchange Carrier
    Ixc,
    /// Personal Communications Service
    Pcs,
}

/// Whether an exchange code is in somebody's hands (spec section 3).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    VariantNames,
    ToSchema,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub enum Status {
    Assigned,
    Unassigned,
    Reserved,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Assigned, Status::Unassigned, Status::Reserved];
}

/// A carrier and the exchanges it owns (spec 2.2 and 2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    pub ocn: Ocn,
    /// Full legal company name; `None` where no source names the company of this OCN.
    pub company_name: Option<String>,
    /// Common or trade name, where it differs.
    pub common_name: Option<String>,
    /// `None` where no source states it.
    pub carrier_type: Option<CarrierType>,
    /// The state or province that holds most of its exchanges.
    pub state: Option<State>,
    pub country: Country,
    pub exchanges: OwnedExchanges,
}

/// How many exchanges a carrier owns, and where (spec 2.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnedExchanges {
    /// Total exchanges owned; exceeds the sum of `by_state` by those whose source names no state.
    pub total: u32,
    /// Exchange count by state or province code.
    #[schema(value_type = BTreeMap<String, u32>)]
    pub by_state: BTreeMap<State, u32>,
}

/// One NPA-NXX: a block of 10,000 numbers (spec 2.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub npa: Npa,
    pub nxx: Nxx,
    /// Its holder; `None` where nobody or no single carrier holds it.
    pub ocn: Option<Ocn>,
    pub company_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    pub rate_center: Option<String>,
    pub state: Option<State>,
    pub country: Country,
    pub status: Status,
    /// Who holds which thousands block, where that is somebody: by the block's first digit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<u8, BlockHolder>,
}

impl Exchange {
    pub fn npa_nxx(&self) -> NpaNxx {
        NpaNxx { npa: self.npa, nxx: self.nxx }
    }

    /// The holder of the thousands block that begins with `digit`, if it has one on this day.
    pub fn block_on(&self, digit: u8, today: Date) -> Option<&BlockHolder> {
        self.blocks.get(&digit).filter(|holder| holder.is_effective_on(today))
    }
}

/// The carrier that a thousands block of a pooled exchange is assigned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockHolder {
    pub ocn: Ocn,
    pub company_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    /// Where the block's numbers are, if the source says so; else where the exchange is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_center: Option<String>,
    /// The first day of the assignment; without one it counts at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<Date>,
}

impl BlockHolder {
    /// Whether the assignment counts on this day. Answers ask this, and not the import, so that it
    /// need not run on the day.
    pub fn is_effective_on(&self, today: Date) -> bool {
        has_begun(self.effective, today)
    }
}

/// Whether something that begins on the day `effective`, or at once, has begun `today`.
pub(crate) fn has_begun(effective: Option<Date>, today: Date) -> bool {
    effective.is_none_or(|effective| effective <= today)
}

/// A record of the lookup tables, whichever it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Record {
    Carrier(Carrier),
    AreaCode(AreaCode),
    Exchange(Exchange),
}

/// What a record is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKey {
    Carrier(Ocn),
    AreaCode(Npa),
    Exchange(NpaNxx),
}

impl Record {
    pub fn key(&self) -> RecordKey {
        match self {
            Self::Carrier(carrier) => RecordKey::Carrier(carrier.ocn),
            Self::AreaCode(area_code) => RecordKey::AreaCode(area_code.npa),
            Self::Exchange(exchange) => RecordKey::Exchange(exchange.npa_nxx()),
        }
    }
}

/// An area code of the US or Canada (spec 2.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaCode {
    pub npa: Npa,
    /// The state or province most of its exchanges are in; `None` for a non-geographic code.
    pub state: Option<State>,
    /// Every state or province that its exchanges or the area code database name.
    #[serde(default)]
    pub states: BTreeSet<State>,
    pub country: Country,
    pub total_exchanges: u32,
}

impl AreaCode {
    /// The state of each of its numbers, which is a fact only where the area code lies in one alone.
    pub fn only_state(&self) -> Option<State> {
        self.states.first().copied().filter(|_| self.states.len() == 1)
    }
}

/// Counts over a whole dataset (spec 2.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    pub total_records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub area_codes: u32,
    pub states_provinces: u32,
}
