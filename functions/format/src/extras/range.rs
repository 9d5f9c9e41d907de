//! The range in a regulator's data that contains a number outside North America.

use jiff::civil::Date;
use numbering::ranges::{NationalNumber, Range, RangeFacts};
use serde::Serialize;
use store::CountryData;
use utoipa::ToSchema;

/// A range of national numbers. Neighboring ranges with the same facts are joined.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RangeAssignment {
    /// The first national number.
    #[schema(value_type = String, example = "2079460000")]
    pub(crate) from: NationalNumber,
    /// The last national number.
    #[schema(value_type = String, example = "2079460999")]
    pub(crate) to: NationalNumber,
    /// The holder as published; `null` if the range has none. The number may have been ported since.
    #[schema(required, example = "Sample Networks plc")]
    pub(crate) holder: Option<String>,
    /// The regulator's own word; `null` if it lists only assigned ranges.
    #[schema(required, example = "Allocated")]
    pub(crate) status: Option<String>,
    /// The first day of the assignment or status; `null` if unknown.
    #[schema(required, value_type = Option<String>, format = Date, example = "1998-06-01")]
    pub(crate) effective_from: Option<Date>,
    /// The place or region as published; `null` if the range has none.
    #[schema(required, example = "Madrid")]
    pub(crate) place: Option<String>,
}

/// The origin of a range.
#[derive(Debug, Serialize, ToSchema)]
pub struct RangeSource {
    #[schema(example = "Ofcom")]
    pub(crate) publisher: String,
    /// The known terms of use.
    pub(crate) license: String,
    /// The date of the newest entry; `null` if the data has no dates.
    #[schema(required, value_type = Option<String>, format = Date, example = "2000-01-01")]
    pub(crate) date: Option<Date>,
}

impl From<Range<&RangeFacts>> for RangeAssignment {
    fn from(Range { from, to, facts }: Range<&RangeFacts>) -> Self {
        let RangeFacts { status, holder, effective_from, place, .. } = facts.clone();
        Self { from, to, holder, status, effective_from, place }
    }
}

impl From<&CountryData> for RangeSource {
    fn from(CountryData { publisher, license, imported, .. }: &CountryData) -> Self {
        Self { publisher: publisher.clone(), license: license.clone(), date: imported.date }
    }
}
