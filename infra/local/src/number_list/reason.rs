//! Why a row of a list has no valid number.

use formatting::Reason as NumberReason;

/// Why a row has no valid number, as the end of a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum Reason {
    #[error(transparent)]
    Number(NumberReason),
    #[error("has no cell in the column of numbers")]
    NoCell,
    #[error("has more cells than the header, so that they may be shifted")]
    ShiftedCells,
    #[error("names a country that is no ISO 3166-1 alpha-2 code")]
    UnknownCountry,
}
