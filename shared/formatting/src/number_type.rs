//! Number types.

use rlibphonenumber::PhoneNumberType;
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use super::metadata::RULES;

/// The type of service that a number is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Display, ToSchema)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NumberType {
    FixedLine,
    Mobile,
    FixedLineOrMobile,
    TollFree,
    PremiumRate,
    SharedCost,
    Voip,
    PersonalNumber,
    Pager,
    Uan,
    Voicemail,
}

impl NumberType {
    /// The description in API responses.
    pub fn description(self) -> &'static str {
        match self {
            Self::FixedLine => "Landline",
            Self::Mobile => "Mobile",
            Self::FixedLineOrMobile => "Landline or Mobile",
            Self::TollFree => "Toll-Free",
            Self::PremiumRate => "Premium Rate",
            Self::SharedCost => "Shared Cost",
            Self::Voip => "VoIP",
            Self::PersonalNumber => "Personal Number",
            Self::Pager => "Pager",
            Self::Uan => "Universal Access Number",
            Self::Voicemail => "Voicemail",
        }
    }

    /// Returns `true` if such numbers belong to a service rather than a place or a phone.
    pub(super) fn is_service(self) -> bool {
        matches!(
            self,
            Self::TollFree
                | Self::PremiumRate
                | Self::SharedCost
                | Self::Voip
                | Self::PersonalNumber
                | Self::Uan
        )
    }

    /// Returns `true` if libphonenumber treats such numbers with this calling code as geographic.
    pub(super) fn belongs_to_place(self, calling_code: i32) -> bool {
        match self {
            Self::FixedLine | Self::FixedLineOrMobile => true,
            Self::Mobile => RULES.is_number_geographical_by_country_code_and_type(
                PhoneNumberType::Mobile,
                calling_code,
            ),
            _ => false,
        }
    }
}
