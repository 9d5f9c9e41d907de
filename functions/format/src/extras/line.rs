//! The likely line type of a number.

use formatting::{NumberType, PhoneNumber};
use numbering::records::{Carrier, LineType, TypeBasis};
use serde::Serialize;
use utoipa::ToSchema;

use super::Facts;
use crate::block::{CarrierInfo, NanpParts};

/// The number's likely line type, and its carrier's everyday name.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Line)]
pub struct LineInfo {
    /// `null` if nothing determines the type.
    #[serde(rename = "type")]
    #[schema(required)]
    pub(crate) line_type: Option<LineType>,
    /// The basis of the type; `null` if the type is unknown.
    #[schema(required)]
    pub(crate) basis: Option<TypeBasis>,
    /// `true` if the type comes from the carrier that the number's block is assigned to. If the number was ported, it
    /// may have a different type. `null` if the type is unknown.
    #[schema(required)]
    pub(crate) may_differ_if_ported: Option<bool>,
    /// The name that people use for that carrier; `null` if it is unknown, or the same as `carrier.name`.
    #[schema(required, example = "T-Mobile")]
    pub(crate) everyday_name: Option<String>,
}

impl LineInfo {
    /// Determines a number's line type. Uses the block's holder only if Google's rules leave the type open, as
    /// they do in the US and Canada.
    pub fn find(facts: &Facts<'_>) -> Option<Self> {
        let number = facts.number?;
        if let Some(line_type) = number.number_type.and_then(from_number_type) {
            return Some(Self {
                line_type: Some(line_type),
                basis: Some(TypeBasis::NumberRange),
                may_differ_if_ported: Some(false),
                everyday_name: None,
            });
        }
        let holder = holder(number, facts);
        let (line_type, basis) = holder.as_ref().and_then(Carrier::line_type).unzip();
        Some(Self {
            line_type,
            basis,
            may_differ_if_ported: line_type.map(|_| true),
            everyday_name: holder.and_then(|carrier| carrier.common_name),
        })
    }
}

fn holder(number: &PhoneNumber, facts: &Facts<'_>) -> Option<Carrier> {
    let parts = NanpParts::from_number(number)?;
    let dataset = facts.dataset?;
    let exchange = dataset.exchange(parts.npa_nxx)?;
    dataset.carrier(CarrierInfo::new(&exchange, parts.block(), facts.today())?.ocn?)
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
