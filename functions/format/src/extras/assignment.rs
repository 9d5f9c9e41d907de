//! What the numbering plan says about a number, beside Google's rules, which lag behind new area codes and do not know
//! which exchanges are assigned.

use formatting::PhoneNumber;
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{AreaCode, BlockHolding, Exchange, NpaNxx, Ocn, Status},
};
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use crate::{
    block::{CarrierInfo, NanpParts},
    test_numbers,
};

/// What the numbering plan says about the number.
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
    /// The holder of the number's block, or the next one until its assignment starts; `null` without one. The number may
    /// have been ported since.
    #[schema(required)]
    pub(crate) block: Option<BlockAssignment>,
}

/// The outcome for a number: assigned, or the reason why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Display)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum AssignmentVerdict {
    /// A carrier holds the number's block. The number itself may be unused.
    Assigned,
    UnassignedAreaCode,
    /// The area code is assigned, but not in service yet.
    PlannedAreaCode,
    /// No carrier holds the exchange: it is unassigned, reserved, or not in the report.
    UnassignedExchange,
    /// The exchange is pooled, and no carrier holds the number's thousands block.
    UnassignedBlock,
    /// The assignment of the thousands block starts on a later day.
    NotYetEffective,
    /// 555-0100 to 555-0199, which are reserved for fiction.
    Fictional,
    /// Exchanges for services and tests, such as 411, 555 and 958.
    TestOrSpecial,
    /// The reports do not cover the number: toll-free, Caribbean, or outside North America.
    NotCovered,
}

/// An area code in the numbering plan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AreaCodeAssignment {
    pub(crate) status: AreaCodeAssignmentStatus,
    /// The day on which the code comes or came into service; `null` if unknown.
    #[schema(required, value_type = Option<String>, format = Date, example = "1947-01-01")]
    pub(crate) in_service_on: Option<Date>,
}

/// An area code's state of service, or `NOT_IN_SERVICE` if it is not assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Display)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Display)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
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
    /// Judges a number; `None` if it is North American but does not have ten digits, or if there is no data.
    pub fn find(number: &PhoneNumber, dataset: Option<&Dataset>, today: Date) -> Option<Self> {
        if number.country_calling_code != 1 {
            let reason = "The numbering data covers only the US and Canada".to_owned();
            return Some(Self::without_exchange(AssignmentVerdict::NotCovered, reason, None));
        }
        let parts = NanpParts::from_number(number)?;
        let area_code = dataset?.area_code(parts.npa_nxx.npa);
        let exchange = dataset?.exchange(parts.npa_nxx);
        let special = special_use(parts.npa_nxx, &parts.nxxx);
        let special = special.filter(|_| !dataset.is_some_and(test_numbers::is_test_data));
        let assignment = Self::in_plan(&parts, area_code, exchange, special, today);
        // Google's rules accept any exchange that starts with 2 to 9 in an area code that they know.
        let can_be_valid = *parts.npa_nxx.nxx.to_string() >= *"200";
        let is_unknown_to_rules = !number.valid
            && can_be_valid
            && !matches!(
                assignment.verdict,
                AssignmentVerdict::NotCovered | AssignmentVerdict::UnassignedAreaCode
            );
        let note = if is_unknown_to_rules { "; Google's rules do not know its range" } else { "" };
        Some(Self { reason: assignment.reason + note, ..assignment })
    }

    fn in_plan(
        parts: &NanpParts,
        area_code: Option<AreaCode>,
        exchange: Option<Exchange>,
        special: Option<SpecialUse>,
        today: Date,
    ) -> Self {
        let NanpParts { npa_nxx, nxxx } = parts;
        let npa = npa_nxx.npa;
        let Some(area_code) = area_code else {
            let status = AreaCodeAssignmentStatus::NotInService;
            let assignment = AreaCodeAssignment { status, in_service_on: None };
            let reason = format!("Area code {npa} is not assigned");
            let verdict = AssignmentVerdict::UnassignedAreaCode;
            return Self::without_exchange(verdict, reason, Some(assignment));
        };
        let in_service_on = area_code.plan.in_service_on;
        if !area_code.plan.is_in_service_on(today) {
            let reason = match in_service_on {
                Some(date) => format!("Area code {npa} is planned for {date}"),
                None => format!("Area code {npa} is planned, without a date"),
            };
            let assignment =
                AreaCodeAssignment { status: AreaCodeAssignmentStatus::Planned, in_service_on };
            let verdict = AssignmentVerdict::PlannedAreaCode;
            return Self::without_exchange(verdict, reason, Some(assignment));
        }
        let assignment =
            AreaCodeAssignment { status: AreaCodeAssignmentStatus::InService, in_service_on };
        if !area_code.is_covered() {
            let reason = format!("The reports do not list exchanges in area code {npa}");
            let verdict = AssignmentVerdict::NotCovered;
            return Self::without_exchange(verdict, reason, Some(assignment));
        }
        let plain = Self::in_exchange(parts, exchange, today);
        // A report that assigns the exchange wins.
        let special = special.filter(|_| plain.verdict == AssignmentVerdict::UnassignedExchange);
        let (verdict, reason) = match special {
            Some((verdict, kind)) => (verdict, format!("{npa_nxx}-{nxxx} is {kind}")),
            None => (plain.verdict, plain.reason),
        };
        Self { area_code: Some(assignment), verdict, reason, ..plain }
    }

    fn in_exchange(parts: &NanpParts, exchange: Option<Exchange>, today: Date) -> Self {
        let status =
            exchange.as_ref().map_or(ExchangeStatus::NotInData, |exchange| match exchange.status {
                Status::Assigned => ExchangeStatus::Assigned,
                Status::Unassigned => ExchangeStatus::Unassigned,
                Status::Reserved => ExchangeStatus::Reserved,
            });
        // The blocks of a pooled exchange are assigned separately.
        let is_assigned =
            |exchange: &Exchange| exchange.status == Status::Assigned || exchange.is_pooled();
        let (verdict, reason, block) = match exchange.filter(is_assigned) {
            Some(exchange) => in_assigned_exchange(parts, &exchange, today),
            None => {
                let status = match status {
                    ExchangeStatus::Reserved => "reserved",
                    ExchangeStatus::NotInData => "not in the reports",
                    _ => "not assigned",
                };
                let reason = format!("Exchange {} is {status}", parts.npa_nxx);
                (AssignmentVerdict::UnassignedExchange, reason, None)
            }
        };
        let exchange = Some(ExchangeAssignment { status });
        Self { verdict, reason, area_code: None, exchange, block }
    }

    fn without_exchange(
        verdict: AssignmentVerdict,
        reason: String,
        area_code: Option<AreaCodeAssignment>,
    ) -> Self {
        Self { verdict, reason, area_code, exchange: None, block: None }
    }
}

fn in_assigned_exchange(
    parts: &NanpParts,
    exchange: &Exchange,
    today: Date,
) -> (AssignmentVerdict, String, Option<BlockAssignment>) {
    let (npa_nxx, digit) = (parts.npa_nxx, parts.block());
    let (verdict, reason, block) = match exchange.holding_on(digit, today) {
        BlockHolding::Exchange => {
            let holder = CarrierInfo::new(exchange, digit, today);
            let block = holder.map(|CarrierInfo { ocn, name, .. }| BlockAssignment {
                ocn,
                name,
                effective_from: None,
            });
            let reason = format!("Exchange {npa_nxx} is assigned");
            return (AssignmentVerdict::Assigned, reason, block);
        }
        BlockHolding::Unassigned => {
            let reason = format!("Block {npa_nxx}-{digit} of a pooled exchange has no holder");
            return (AssignmentVerdict::UnassignedBlock, reason, None);
        }
        BlockHolding::Block(holder) => {
            let reason = format!("Block {npa_nxx}-{digit} has a holder");
            (AssignmentVerdict::Assigned, reason, holder)
        }
        BlockHolding::Pending(holder) => {
            let date = holder.effective.map(|date| format!(" on {date}")).unwrap_or_default();
            let reason = format!("The assignment of block {npa_nxx}-{digit} starts{date}");
            (AssignmentVerdict::NotYetEffective, reason, holder)
        }
    };
    let (ocn, name) = (Some(block.ocn), block.company_name.clone());
    let effective_from = block.effective;
    (verdict, reason, Some(BlockAssignment { ocn, name, effective_from }))
}

/// The verdict for a special use, and its name.
type SpecialUse = (AssignmentVerdict, &'static str);

/// The use of numbers that are never assigned to a subscriber in any geographic area code (ATIS-0300051, ATIS-0300115).
fn special_use(npa_nxx: NpaNxx, nxxx: &str) -> Option<SpecialUse> {
    match npa_nxx.nxx.to_string().as_str() {
        "555" if nxxx.starts_with("01") => {
            Some((AssignmentVerdict::Fictional, "reserved for fiction"))
        }
        "555" => Some((
            AssignmentVerdict::TestOrSpecial,
            "in exchange 555, which is for information services",
        )),
        "950" => {
            Some((AssignmentVerdict::TestOrSpecial, "an access number of a long-distance carrier"))
        }
        "958" | "959" => Some((AssignmentVerdict::TestOrSpecial, "a test number")),
        "976" => Some((
            AssignmentVerdict::TestOrSpecial,
            "in exchange 976, which is for paid information",
        )),
        "988" => Some((
            AssignmentVerdict::TestOrSpecial,
            "in exchange 988, which is reserved for the crisis line",
        )),
        nxx if nxx.ends_with("11") => Some((
            AssignmentVerdict::TestOrSpecial,
            "in an exchange reserved for service codes such as 911",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
