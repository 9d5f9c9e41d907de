//! Checks a number against the numbering plan. Google's rules lag behind new area codes and do not contain
//! exchange assignments.

use formatting::PhoneNumber;
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    ranges::{Range, RangeFacts, RangeUse},
    records::{BlockHolder, BlockHolding, Exchange, NpaNxx, Ocn, Status},
};
use serde::Serialize;
use store::LoadedCountry;
use utoipa::ToSchema;

use super::{
    Facts,
    range::{RangeAssignment, RangeSource},
};
use crate::{
    block::{CarrierInfo, NanpParts},
    test_numbers,
};

/// The number's assignment in the numbering plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    pub(crate) verdict: AssignmentVerdict,
    /// The reason for the verdict as a sentence.
    #[schema(example = "Area code 465 is planned for 2026-06-18")]
    pub(crate) reason: String,
    /// `null` for numbers outside the North American plan.
    #[schema(required)]
    pub(crate) area_code: Option<AreaCodeAssignment>,
    /// `null` if the numbering data does not cover the area code.
    #[schema(required)]
    pub(crate) exchange: Option<ExchangeAssignment>,
    /// The holder of the number's block, or the next one until its assignment starts; `null` if the block has none. The
    /// number may have been ported since.
    #[schema(required)]
    pub(crate) block: Option<BlockAssignment>,
    /// The range in the regulator's data that contains the number; `null` without one, and for North American numbers.
    #[schema(required)]
    pub(crate) range: Option<RangeAssignment>,
    /// The data that the range is from; `null` for North American numbers and for countries without data.
    #[schema(required)]
    pub(crate) source: Option<RangeSource>,
}

/// The outcome for a number: assigned, or the reason why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AssignmentVerdict {
    /// A carrier holds the number's block or range. The number itself may be unused.
    Assigned,
    UnassignedAreaCode,
    /// The area code is assigned, but not in service yet.
    PlannedAreaCode,
    /// No carrier holds the exchange: it is unassigned, reserved, or not in the report.
    UnassignedExchange,
    /// The exchange is pooled, and no carrier holds the number's thousands block.
    UnassignedBlock,
    /// The assignment of the thousands block or range starts on a later day.
    NotYetEffective,
    /// Outside North America: the regulator lists the range as free, or does not list it.
    UnassignedRange,
    /// Outside North America: the regulator holds the range back, for example in quarantine.
    ReservedRange,
    /// 555-0100 to 555-0199, which are reserved for fiction.
    Fictional,
    /// Exchanges for services and tests, such as 411, 555 and 958.
    TestOrSpecial,
    /// The data does not cover the number: toll-free, Caribbean, or in a country whose ranges were not imported.
    NotCovered,
}

/// An area code in the numbering plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AreaCodeAssignment {
    pub(crate) status: AreaCodeAssignmentStatus,
    /// The day the code comes or came into service; `null` if unknown.
    #[schema(required, value_type = Option<String>, format = Date, example = "1947-01-01")]
    pub(crate) in_service_on: Option<Date>,
}

/// An area code's service status, or `NOT_IN_SERVICE` if it is not assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AreaCodeAssignmentStatus {
    InService,
    Planned,
    NotInService,
}

/// An exchange in the numbering data.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExchangeAssignment {
    pub(crate) status: ExchangeStatus,
}

/// An exchange's status, or `NOT_IN_DATA` if no report lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ExchangeStatus {
    Assigned,
    Unassigned,
    Reserved,
    /// NANPA's report lists only codes in use.
    NotInData,
}

/// The assignment of a block.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockAssignment {
    #[schema(required)]
    pub(crate) ocn: Option<Ocn>,
    /// Company name; `null` if no source provides it.
    #[schema(required, example = "NEW CINGULAR WIRELESS PCS, LLC - DC")]
    pub(crate) name: Option<String>,
    /// The first day of the assignment; `null` if the report has no date.
    #[schema(required, value_type = Option<String>, format = Date, example = "2026-07-01")]
    pub(crate) effective_from: Option<Date>,
}

impl Assignment {
    /// Determines a number's assignment; `None` without data, or if the number is incomplete: a North American one without
    /// ten digits, or one that is neither possible nor in a range.
    pub fn find(facts: &Facts<'_>) -> Option<Self> {
        let number = facts.number?;
        if number.country_calling_code != 1 {
            let assignment = Self::in_country(number, facts);
            return Some(assignment).filter(|it| number.possible || it.range.is_some());
        }
        let parts = NanpParts::from_number(number)?;
        let mut assignment = Self::in_plan(&parts, facts.dataset?, facts.today());
        // Google's rules accept any exchange that starts with 2 to 9 in a known area code.
        let can_be_valid = *parts.npa_nxx.nxx.to_string() >= *"200"
            && !matches!(
                assignment.verdict,
                AssignmentVerdict::NotCovered | AssignmentVerdict::UnassignedAreaCode
            );
        if can_be_valid && !number.valid {
            assignment.reason += "; Google's rules do not know its range";
        }
        Some(assignment)
    }

    fn new(verdict: AssignmentVerdict, reason: impl Into<String>) -> Self {
        Self {
            verdict,
            reason: reason.into(),
            area_code: None,
            exchange: None,
            block: None,
            range: None,
            source: None,
        }
    }

    fn in_plan(parts: &NanpParts, dataset: &Dataset, today: Date) -> Self {
        use AreaCodeAssignmentStatus::{InService, NotInService, Planned};
        use AssignmentVerdict::{NotCovered, PlannedAreaCode, UnassignedAreaCode};
        let npa = parts.npa_nxx.npa;
        let area_code = dataset.area_code(npa);
        let in_service_on = area_code.as_ref().and_then(|it| it.plan.in_service_on);
        let (status, assignment) = match (area_code, in_service_on) {
            (None, _) => {
                let reason = format!("Area code {npa} is not assigned");
                (NotInService, Self::new(UnassignedAreaCode, reason))
            }
            (Some(it), date) if !it.plan.is_in_service_on(today) => {
                let date =
                    date.map_or(", without a date".to_owned(), |date| format!(" for {date}"));
                (Planned, Self::new(PlannedAreaCode, format!("Area code {npa} is planned{date}")))
            }
            (Some(it), _) if !it.is_covered() => {
                let reason = format!("The reports do not list exchanges in area code {npa}");
                (InService, Self::new(NotCovered, reason))
            }
            _ => (InService, Self::in_service(parts, dataset, today)),
        };
        Self { area_code: Some(AreaCodeAssignment { status, in_service_on }), ..assignment }
    }

    /// Determines the assignment of a number whose area code is in service. An assignment in a report takes precedence
    /// over a special use.
    fn in_service(parts: &NanpParts, dataset: &Dataset, today: Date) -> Self {
        let NanpParts { npa_nxx, nxxx } = parts;
        let assignment = Self::in_exchange(parts, dataset.exchange(*npa_nxx), today);
        let is_assigned = assignment.verdict != AssignmentVerdict::UnassignedExchange;
        match special_use(*npa_nxx, nxxx) {
            Some((verdict, kind)) if !is_assigned && !test_numbers::is_test_data(dataset) => {
                Self { verdict, reason: format!("{npa_nxx}-{nxxx} is {kind}"), ..assignment }
            }
            _ => assignment,
        }
    }

    fn in_exchange(parts: &NanpParts, exchange: Option<Exchange>, today: Date) -> Self {
        let (status, words) = match exchange.as_ref().map(|exchange| exchange.status) {
            None => (ExchangeStatus::NotInData, "not in the reports"),
            Some(Status::Assigned) => (ExchangeStatus::Assigned, "assigned"),
            Some(Status::Unassigned) => (ExchangeStatus::Unassigned, "not assigned"),
            Some(Status::Reserved) => (ExchangeStatus::Reserved, "reserved"),
        };
        // The blocks of a pooled exchange are assigned separately.
        let is_assigned = |it: &Exchange| it.status == Status::Assigned || it.is_pooled();
        let assignment = match exchange.filter(is_assigned) {
            Some(exchange) => Self::in_assigned_exchange(parts, &exchange, today),
            None => {
                let reason = format!("Exchange {} is {words}", parts.npa_nxx);
                Self::new(AssignmentVerdict::UnassignedExchange, reason)
            }
        };
        Self { exchange: Some(ExchangeAssignment { status }), ..assignment }
    }

    fn in_assigned_exchange(parts: &NanpParts, exchange: &Exchange, today: Date) -> Self {
        use AssignmentVerdict::{Assigned, NotYetEffective, UnassignedBlock};
        let (npa_nxx, digit) = (parts.npa_nxx, parts.block());
        let (verdict, reason, block) = match exchange.holding_on(digit, today) {
            BlockHolding::Exchange => {
                let holder = CarrierInfo::new(exchange, digit, today);
                let block = holder.map(|CarrierInfo { ocn, name, .. }| BlockAssignment {
                    ocn,
                    name,
                    effective_from: None,
                });
                (Assigned, format!("Exchange {npa_nxx} is assigned"), block)
            }
            BlockHolding::Unassigned => {
                let reason = format!("Block {npa_nxx}-{digit} of a pooled exchange has no holder");
                (UnassignedBlock, reason, None)
            }
            BlockHolding::Block(holder) => {
                let reason = format!("Block {npa_nxx}-{digit} has a holder");
                (Assigned, reason, Some(holder.into()))
            }
            BlockHolding::Pending(holder) => {
                let date = holder.effective.map(|date| format!(" on {date}")).unwrap_or_default();
                let reason = format!("The assignment of block {npa_nxx}-{digit} starts{date}");
                (NotYetEffective, reason, Some(holder.into()))
            }
        };
        Self { block, ..Self::new(verdict, reason) }
    }
}

impl Assignment {
    /// Determines the assignment of a number outside North America.
    fn in_country(number: &PhoneNumber, facts: &Facts<'_>) -> Self {
        let calling_code = number.country_calling_code;
        let has_number =
            |country: &&LoadedCountry| country.data.calling_codes.contains(&calling_code);
        let Some(LoadedCountry { data, ranges, .. }) = facts.countries.iter().find(has_number)
        else {
            let reason = "The data does not include the number's country";
            return Self::new(AssignmentVerdict::NotCovered, reason);
        };
        let (national, publisher) = (&number.national_number, &data.publisher);
        let range = national.parse().ok().and_then(|number| ranges.find(number));
        let range = range.filter(|range| data.has_calling_code(range.facts, calling_code));
        let assignment = match range {
            None if !ranges.covers(national) => {
                let reason = format!("The data from {publisher} does not cover such numbers");
                Self::new(AssignmentVerdict::NotCovered, reason)
            }
            None => {
                let reason = format!("{publisher} lists no range with this number");
                Self::new(AssignmentVerdict::UnassignedRange, reason)
            }
            Some(range) => Self::in_range(range, publisher, number, facts.today()),
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

impl From<&BlockHolder> for BlockAssignment {
    fn from(holder: &BlockHolder) -> Self {
        let (ocn, name) = (Some(holder.ocn), holder.company_name.clone());
        Self { ocn, name, effective_from: holder.effective }
    }
}

/// The verdict for a special use, and its name.
type SpecialUse = (AssignmentVerdict, &'static str);

/// The use of numbers that are never assigned to a subscriber in any geographic area code (ATIS-0300051, ATIS-0300115).
fn special_use(npa_nxx: NpaNxx, nxxx: &str) -> Option<SpecialUse> {
    let kind = match npa_nxx.nxx.to_string().as_str() {
        "555" if nxxx.starts_with("01") => {
            return Some((AssignmentVerdict::Fictional, "reserved for fiction"));
        }
        "555" => "in exchange 555, which is for information services",
        "950" => "an access number of a long-distance carrier",
        "958" | "959" => "a test number",
        "976" => "in exchange 976, which is for paid information",
        "988" => "in exchange 988, which is reserved for the crisis line",
        nxx if nxx.ends_with("11") => "in an exchange reserved for service codes such as 911",
        _ => return None,
    };
    Some((AssignmentVerdict::TestOrSpecial, kind))
}
