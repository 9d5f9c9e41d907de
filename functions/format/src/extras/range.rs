//! Assignments outside North America: the range in a regulator's data that contains the number.

use formatting::PhoneNumber;
use jiff::civil::Date;
use numbering::ranges::{NationalNumber, Range, RangeFacts, RangeUse};
use serde::Serialize;
use store::{CountryData, LoadedCountry};
use utoipa::ToSchema;

use super::{
    Facts,
    assignment::{Assignment, AssignmentVerdict},
};

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
    /// The holder as published; `null` without one. The number may have been ported since.
    #[schema(required, example = "Sample Networks plc")]
    pub(crate) holder: Option<String>,
    /// The regulator's own word; `null` if it lists only assigned ranges.
    #[schema(required, example = "Allocated")]
    pub(crate) status: Option<String>,
    /// The first day of the assignment or status; `null` if unknown.
    #[schema(required, value_type = Option<String>, format = Date, example = "1998-06-01")]
    pub(crate) effective_from: Option<Date>,
    /// The place or region as published; `null` without one.
    #[schema(required, example = "Madrid")]
    pub(crate) place: Option<String>,
}

/// The origin of a range.
#[derive(Debug, Serialize, ToSchema)]
pub struct RangeSource {
    #[schema(example = "Ofcom")]
    pub(crate) publisher: String,
    /// The terms of use, as far as they are known.
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

impl Assignment {
    /// Determines the assignment of a number outside North America.
    pub(super) fn in_country(number: &PhoneNumber, facts: &Facts<'_>) -> Self {
        let calling_code = number.country_calling_code;
        let has_number =
            |country: &&LoadedCountry| country.data.calling_codes.contains(&calling_code);
        let Some(LoadedCountry { data, ranges, .. }) = facts.countries.iter().find(has_number)
        else {
            let reason = "There is no data on the number's country";
            return Self::new(AssignmentVerdict::NotCovered, reason);
        };
        let (national, publisher) = (&number.national_number, &data.publisher);
        let range = national.parse().ok().and_then(|number| ranges.find(number));
        let assignment = match range {
            None if !ranges.covers(national) => {
                let reason = format!("The data from {publisher} does not cover such numbers");
                Self::new(AssignmentVerdict::NotCovered, reason)
            }
            None => {
                let reason = format!("{publisher} lists no range with this number");
                Self::new(AssignmentVerdict::UnassignedRange, reason)
            }
            Some(range) => Self::in_range(range, publisher, number, facts.today),
        };
        Self { source: Some(data.into()), ..assignment }
    }

    fn in_range(
        range: Range<&RangeFacts>,
        publisher: &str,
        number: &PhoneNumber,
        today: Date,
    ) -> Self {
        let RangeFacts { range_use, status, holder, effective_from, .. } = range.facts;
        let starts_on = effective_from.filter(|date| *date > today);
        let verdict = match (range_use, starts_on) {
            (RangeUse::Assigned, Some(_)) => AssignmentVerdict::NotYetEffective,
            (RangeUse::Assigned, None) => AssignmentVerdict::Assigned,
            (RangeUse::Unassigned, _) => AssignmentVerdict::UnassignedRange,
            (RangeUse::Reserved, _) => AssignmentVerdict::ReservedRange,
        };
        let status = status.as_deref().unwrap_or("assigned");
        let mut reason = format!("{publisher} lists the range as {status}");
        reason.extend(holder.iter().map(|holder| format!(", held by {holder}")));
        reason.extend(starts_on.map(|date| format!(", from {date}")));
        if verdict == AssignmentVerdict::Assigned && !number.valid {
            reason += "; Google's rules do not know it";
        }
        Self { range: Some(range.into()), ..Self::new(verdict, reason) }
    }
}
