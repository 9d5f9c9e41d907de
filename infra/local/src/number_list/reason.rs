//! Reasons for which a row of a list has no valid number, or more than one.

use format::ReasonInfo;
use formatting::Reason as NumberReason;

/// The reason for which a row has no valid number, or more than one, as the end of a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum Reason {
    #[error(transparent)]
    Number(NumberReason),
    #[error("has no cell in the column of numbers")]
    NoCell,
    #[error("has more cells than the header, so that they may be shifted")]
    ShiftedCells,
    #[error("names a country that is not an ISO 3166-1 alpha-2 code")]
    UnknownCountry,
}

impl Reason {
    /// The code for programs, such as `TOO_SHORT`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Number(reason) => reason.code(),
            Self::NoCell => "NO_CELL",
            Self::ShiftedCells => "SHIFTED_CELLS",
            Self::UnknownCountry => "UNKNOWN_COUNTRY",
        }
    }

    /// Returns `true` for a remark on a number that is valid.
    pub fn is_of_valid_number(self) -> bool {
        matches!(self, Self::Number(NumberReason::TwoNumbers))
    }

    /// The reason of a row as that of a number.
    pub fn to_info(self) -> ReasonInfo {
        ReasonInfo { code: self.code(), message: format!("The row {self}"), other: None }
    }
}
