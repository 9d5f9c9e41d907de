//! The numbering records that are stored as items and returned by the API.

mod area_code;
mod codes;
mod place;
pub(crate) mod samples;
#[cfg(test)]
mod tests;
mod version;

use std::{collections::BTreeMap, fmt};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantArray, VariantNames};
use utoipa::ToSchema;

pub use area_code::{
    AreaCode, AreaCodeService, AreaCodeStatus, DialingPlan, NumberingPlan, ReliefPlanning,
};
pub use codes::{Npa, NpaNxx, Nxx, Ocn};
pub use place::{Country, StateCode};
pub use version::Version;

/// The version of the record layout, which is a snapshot's first byte. Increment it whenever a record changes, so that
/// a release never misreads a different layout.
pub const LAYOUT: u8 = 9;

/// Type of a carrier.
#[derive(Serialize, Deserialize, Display, EnumString, VariantArray, VariantNames, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarrierType {
    /// Incumbent Local Exchange Carrier.
    Ilec,
    /// Competitive Local Exchange Carrier.
    Clec,
    /// Mobile (cellular) carrier.
    Wireless,
    /// Competitive Access Provider.
    Cap,
    /// Interexchange Carrier.
    Ixc,
    /// Personal Communications Service.
    Pcs,
}

/// The source of a carrier type or line type.
#[derive(Serialize, Deserialize, Display, VariantArray, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TypeBasis {
    /// The operator's own list of carriers.
    CarriersFile,
    /// The carrier belongs to a family of companies whose type is known.
    CompanyFamily,
    /// Words in the carrier's name, such as `WIRELESS`.
    CompanyName,
    /// Google's rules for the number's range.
    NumberRange,
}

/// The type of a line.
#[derive(Serialize, Deserialize, Display, VariantArray, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineType {
    Wireless,
    Landline,
    Voip,
    /// Not wireless, but the carrier offers both kinds.
    LandlineOrVoip,
    Pager,
    TollFree,
    PremiumRate,
    SharedCost,
    PersonalNumber,
    Uan,
    Voicemail,
}

/// Assignment status of an exchange.
#[derive(Serialize, Deserialize, Display, EnumString, VariantNames, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Assigned,
    Unassigned,
    Reserved,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Assigned, Status::Unassigned, Status::Reserved];
}

/// A carrier and the exchanges it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carrier {
    pub ocn: Ocn,
    /// Full legal company name; `None` if no source has it.
    pub company_name: Option<String>,
    /// Common or trade name, if it differs from the company name.
    pub common_name: Option<String>,
    /// `None` if no source has it.
    pub carrier_type: Option<CarrierType>,
    /// `None` if the type is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_basis: Option<TypeBasis>,
    /// The line type implied by the company family; `None` if the carrier type determines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family_line_type: Option<LineType>,
    /// The state or province with most of its exchanges.
    pub state: Option<StateCode>,
    pub country: Country,
    pub exchanges: OwnedExchanges,
}

impl Carrier {
    /// The usual line type of the carrier's numbers; `None` if unknown. A ported number may have a different type.
    pub fn line_type(&self) -> Option<(LineType, TypeBasis)> {
        if let Some(line_type) = self.family_line_type {
            let by_name = self.type_basis.filter(|&basis| basis == TypeBasis::CompanyName);
            return Some((line_type, by_name.unwrap_or(TypeBasis::CompanyFamily)));
        }
        let line_type = match self.carrier_type? {
            CarrierType::Wireless | CarrierType::Pcs => LineType::Wireless,
            CarrierType::Ilec => LineType::Landline,
            CarrierType::Clec | CarrierType::Cap => LineType::LandlineOrVoip,
            CarrierType::Ixc => return None,
        };
        Some((line_type, self.type_basis?))
    }
}

/// A carrier's exchange counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnedExchanges {
    /// Total exchanges held. Includes exchanges whose report does not list a state, which `by_state` does not count.
    pub total: u32,
    /// Exchange count by state or province code.
    pub by_state: BTreeMap<StateCode, u32>,
}

/// One NPA-NXX: a block of 10,000 numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub npa: Npa,
    pub nxx: Nxx,
    /// The carrier that holds the exchange; `None` if it has no holder, or if its OCN is unknown.
    pub ocn: Option<Ocn>,
    pub company_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    pub rate_center: Option<String>,
    pub state: Option<StateCode>,
    pub country: Country,
    pub status: Status,
    /// The thousands blocks assigned to a carrier, by the fourth-to-last digit of their numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocks: BTreeMap<u8, BlockHolder>,
}

impl Exchange {
    pub fn npa_nxx(&self) -> NpaNxx {
        NpaNxx { npa: self.npa, nxx: self.nxx }
    }

    /// The carriers that hold the exchange, in whole or in part.
    pub fn ocns(&self) -> impl Iterator<Item = Ocn> {
        self.ocn.into_iter().chain(self.blocks.values().map(|block| block.ocn))
    }

    /// Returns `true` if the thousands blocks are assigned separately.
    pub fn is_pooled(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// The holding of the thousands block with this digit on a day. See "Carriers" in API-DESIGN.md for the rule.
    pub fn holding_on(&self, digit: u8, day: Date) -> BlockHolding<'_> {
        match self.blocks.get(&digit) {
            Some(block) if block.is_effective_on(day) => BlockHolding::Block(block),
            Some(block) => BlockHolding::Pending(block),
            None if self.is_pooled() => BlockHolding::Unassigned,
            None => BlockHolding::Exchange,
        }
    }
}

/// The holding of a thousands block on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockHolding<'a> {
    /// The exchange is not pooled, so its holder, if any, holds the block.
    Exchange,
    /// A carrier holds the block of a pooled exchange.
    Block(&'a BlockHolder),
    /// A carrier's assignment starts later. Until then, the block has no holder.
    Pending(&'a BlockHolder),
    /// The block of a pooled exchange has no holder.
    Unassigned,
}

/// The carrier that a thousands block in a pooled exchange is assigned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockHolder {
    pub ocn: Ocn,
    pub company_name: Option<String>,
    pub carrier_type: Option<CarrierType>,
    /// `None` if the source does not have it; the exchange's rate center then applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_center: Option<String>,
    /// The first day of the assignment; `None` if it is effective immediately.
    #[serde(rename = "effective_date", default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<Date>,
}

impl BlockHolder {
    /// Returns `true` if the assignment is effective `today`. Checked for each request, so no import needs to
    /// run on the effective date.
    pub fn is_effective_on(&self, today: Date) -> bool {
        self.effective.is_none_or(|effective| effective <= today)
    }
}

/// A record of any kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Record {
    Carrier(Carrier),
    AreaCode(AreaCode),
    Exchange(Exchange),
}

/// The code that identifies a record of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKey {
    Carrier(Ocn),
    AreaCode(Npa),
    Exchange(NpaNxx),
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Carrier(ocn) => ocn.fmt(f),
            Self::AreaCode(npa) => npa.fmt(f),
            Self::Exchange(npa_nxx) => npa_nxx.fmt(f),
        }
    }
}

impl RecordKey {
    /// Returns `true` for the area code, and the exchanges in it.
    pub fn is_in_area_code(self, npa: Npa) -> bool {
        match self {
            Self::Exchange(npa_nxx) => npa_nxx.npa == npa,
            Self::AreaCode(area_code) => area_code == npa,
            Self::Carrier(_) => false,
        }
    }
}

impl Record {
    /// The code that identifies the record.
    pub fn key(&self) -> RecordKey {
        match self {
            Self::Carrier(carrier) => RecordKey::Carrier(carrier.ocn),
            Self::AreaCode(area_code) => RecordKey::AreaCode(area_code.npa),
            Self::Exchange(exchange) => RecordKey::Exchange(exchange.npa_nxx()),
        }
    }
}

/// Counts over a whole dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    pub total_records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub area_codes: u32,
    pub states_provinces: u32,
}
