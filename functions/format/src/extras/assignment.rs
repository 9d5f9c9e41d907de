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
mod tests {
    use formatting::DefaultCountry;
    use numbering::records::{
        AreaCodeService, BlockHolder, Carrier, Country, NumberingPlan, OwnedExchanges,
    };
    use serde_json::{Value, json};

    use super::*;

    const TODAY: Date = Date::constant(2026, 6, 1);

    fn area_code(npa: &str, plan: NumberingPlan, country: Option<Country>) -> AreaCode {
        AreaCode {
            npa: npa.parse().unwrap(),
            state: None,
            states: [].into(),
            country,
            total_exchanges: 0,
            plan: Box::new(plan),
        }
    }

    fn exchange(npa_nxx: &str, status: Status, blocks: &[(u8, Option<Date>)]) -> Exchange {
        let NpaNxx { npa, nxx } = npa_nxx.parse().unwrap();
        let holder = |effective| BlockHolder {
            ocn: "6529".parse().unwrap(),
            company_name: None,
            carrier_type: None,
            rate_center: None,
            effective,
        };
        Exchange {
            npa,
            nxx,
            ocn: (status == Status::Assigned).then(|| "6529".parse().unwrap()),
            company_name: None,
            carrier_type: None,
            rate_center: None,
            state: None,
            country: Country::Us,
            status,
            blocks: blocks.iter().map(|&(digit, effective)| (digit, holder(effective))).collect(),
        }
    }

    fn carrier() -> Carrier {
        Carrier {
            ocn: "6529".parse().unwrap(),
            company_name: Some("T-MOBILE USA, INC.".to_owned()),
            common_name: None,
            carrier_type: None,
            type_basis: None,
            family_line_type: None,
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges::default(),
        }
    }

    fn dataset() -> Dataset {
        let in_service = NumberingPlan::default;
        let planned = |in_service_on| NumberingPlan {
            is_in_service: false,
            in_service_on,
            ..NumberingPlan::default()
        };
        let service = |service| NumberingPlan { service, ..NumberingPlan::default() };
        let area_codes = vec![
            area_code("305", in_service(), Some(Country::Us)),
            // Not in the metadata yet.
            area_code("465", planned(Some(Date::constant(2026, 6, 18))), Some(Country::Us)),
            area_code("471", planned(Some(Date::constant(2026, 1, 30))), Some(Country::Us)),
            area_code("565", planned(None), Some(Country::Us)),
            AreaCode {
                total_exchanges: 1,
                ..area_code("600", service(AreaCodeService::NonGeographic), Some(Country::Ca))
            },
            area_code("800", service(AreaCodeService::TollFree), None),
            area_code("876", in_service(), None),
        ];
        let (past, future) = (Date::constant(2020, 1, 1), Date::constant(2026, 7, 1));
        let exchanges = vec![
            exchange("305-200", Status::Assigned, &[]),
            exchange("305-201", Status::Assigned, &[(1, Some(past)), (2, Some(future)), (3, None)]),
            exchange("305-202", Status::Reserved, &[]),
            exchange("305-203", Status::Unassigned, &[]),
            // The report wins over the rule for test numbers.
            exchange("305-959", Status::Assigned, &[]),
            exchange("471-200", Status::Assigned, &[]),
            exchange("600-200", Status::Assigned, &[]),
        ];
        Dataset::new(vec![carrier()], area_codes, exchanges)
    }

    #[test]
    fn every_number_gets_a_verdict_with_its_reason() {
        let dataset = dataset();
        let numbers = "305 200 2345, 305 201 1345, 305 201 2345, 305 201 3345, 305 201 4345, \
                       305 202 2345, 305 203 2345, 305 204 2345, 305 555 0123, 305 555 1212, \
                       305 911 2345, 305 950 2345, 305 958 2345, 305 959 2345, 305 976 2345, 465 200 2345, 465 555 0123, \
                       471 200 2345, 471 201 2345, 565 200 2345, 600 200 2345, 600 201 2345, \
                       800 200 2345, 876 200 2345, 411 200 2345, 222 200 2345, +44 20 7946 0958, \
                       305 234";
        let verdicts = numbers.split(", ").map(|text| {
            let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
            let found = Assignment::find(&number, Some(&dataset), TODAY);
            format!("{text} {}\n  {}", number.valid, json!(found))
        });
        insta::assert_snapshot!(verdicts.collect::<Vec<_>>().join("\n"));
    }

    /// The verdict, reason and block for a number on a day, given the exchanges in area code 305.
    fn judge(text: &str, exchanges: Vec<Exchange>, today: Date) -> (String, String, Value) {
        let area_codes = vec![area_code("305", NumberingPlan::default(), Some(Country::Us))];
        let dataset = Dataset::new(vec![carrier()], area_codes, exchanges);
        let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
        let found = Assignment::find(&number, Some(&dataset), today).unwrap();
        (found.verdict.to_string(), found.reason.clone(), json!(found)["block"].clone())
    }

    fn verdict(text: &str, exchanges: Vec<Exchange>) -> String {
        judge(text, exchanges, TODAY).0
    }

    #[test]
    fn only_555_0100_to_0199_are_reserved_for_fiction() {
        for (text, expected) in [
            ("305 555 0099", "TEST_OR_SPECIAL"),
            ("305 555 0100", "FICTIONAL"),
            ("305 555 0199", "FICTIONAL"),
            ("305 555 0200", "TEST_OR_SPECIAL"),
            ("305 555 1010", "TEST_OR_SPECIAL"),
            ("305 556 0100", "UNASSIGNED_EXCHANGE"),
        ] {
            assert_eq!(verdict(text, Vec::new()), expected, "{text}");
        }
    }

    #[test]
    fn an_assigned_exchange_is_not_special() {
        let later = TODAY.tomorrow().unwrap();
        for (text, status, blocks, expected) in [
            ("305 976 1345", Status::Assigned, &[][..], "ASSIGNED"),
            ("305 976 1345", Status::Assigned, &[(1, None)], "ASSIGNED"),
            ("305 976 1345", Status::Assigned, &[(1, Some(later))], "NOT_YET_EFFECTIVE"),
            ("305 976 1345", Status::Assigned, &[(2, None)], "UNASSIGNED_BLOCK"),
            ("305 976 1345", Status::Reserved, &[(2, None)], "UNASSIGNED_BLOCK"),
            ("305 976 1345", Status::Reserved, &[], "TEST_OR_SPECIAL"),
            ("305 976 1345", Status::Unassigned, &[], "TEST_OR_SPECIAL"),
            ("305 555 0100", Status::Assigned, &[(2, None)], "UNASSIGNED_BLOCK"),
            ("305 555 0100", Status::Reserved, &[], "FICTIONAL"),
        ] {
            let npa_nxx = text.get(..7).unwrap().replace(' ', "-");
            let found = verdict(text, vec![exchange(&npa_nxx, status, blocks)]);
            assert_eq!(found, expected, "{text} {status} {blocks:?}");
        }
    }

    #[test]
    fn assignments_start_on_their_effective_date() {
        let starts = TODAY.tomorrow().unwrap();
        for (today, expected, reason) in [
            (TODAY, "NOT_YET_EFFECTIVE", "The assignment of block 305-201-2 starts on 2026-06-02"),
            (starts, "ASSIGNED", "Block 305-201-2 has a holder"),
            (starts.tomorrow().unwrap(), "ASSIGNED", "Block 305-201-2 has a holder"),
        ] {
            let pooled = exchange("305-201", Status::Assigned, &[(2, Some(starts))]);
            let (verdict, found_reason, block) = judge("305 201 2345", vec![pooled], today);
            assert_eq!((&*verdict, &*found_reason), (expected, reason), "{today}");
            assert_eq!(block["effectiveFrom"], "2026-06-02", "{today}");
        }
    }

    #[test]
    fn area_codes_start_on_their_service_date() {
        let starts = TODAY.tomorrow().unwrap();
        let plan = NumberingPlan {
            is_in_service: false,
            in_service_on: Some(starts),
            ..NumberingPlan::default()
        };
        let exchanges = vec![exchange("465-200", Status::Assigned, &[])];
        let area_codes = vec![area_code("465", plan, Some(Country::Us))];
        let dataset = Dataset::new(Vec::new(), area_codes, exchanges);
        let number = PhoneNumber::parse("465 200 2345", DefaultCountry::default()).unwrap();
        for (today, expected) in
            [(TODAY, AssignmentVerdict::PlannedAreaCode), (starts, AssignmentVerdict::Assigned)]
        {
            let found = Assignment::find(&number, Some(&dataset), today).unwrap();
            assert_eq!(found.verdict, expected, "{today}");
        }
    }

    #[test]
    fn a_holder_has_an_ocn_or_only_a_name() {
        for (ocn, name, expected) in [
            (
                Some("6529"),
                None,
                json!({ "ocn": "6529", "name": "T-MOBILE USA, INC.", "effectiveFrom": null }),
            ),
            (
                None,
                Some("AT&T CORP."),
                json!({ "ocn": null, "name": "AT&T CORP.", "effectiveFrom": null }),
            ),
            (None, None, Value::Null),
        ] {
            let ocn = ocn.map(|ocn: &str| ocn.parse().unwrap());
            let company_name = name.map(str::to_owned);
            let held = Exchange { ocn, company_name, ..exchange("305-200", Status::Assigned, &[]) };
            let (verdict, _, block) = judge("305 200 2345", vec![held], TODAY);
            assert_eq!((&*verdict, block), ("ASSIGNED", expected));
        }
    }

    #[test]
    fn reasons_mention_only_ranges_that_could_be_valid() {
        let exchanges = vec![exchange("471-200", Status::Assigned, &[])];
        let area_codes = vec![area_code("471", NumberingPlan::default(), Some(Country::Us))];
        let dataset = Dataset::new(Vec::new(), area_codes, exchanges);
        for (text, expected) in [
            ("471 200 2345", "Exchange 471-200 is assigned; Google's rules do not know its range"),
            ("471 199 2345", "Exchange 471-199 is not in the reports"),
            ("222 200 2345", "Area code 222 is not assigned"),
        ] {
            let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
            let found = Assignment::find(&number, Some(&dataset), TODAY).unwrap();
            assert_eq!(found.reason, expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_judged_without_data() {
        let number = PhoneNumber::parse("305 200 2345", DefaultCountry::default()).unwrap();
        assert!(Assignment::find(&number, None, TODAY).is_none());
    }
}
