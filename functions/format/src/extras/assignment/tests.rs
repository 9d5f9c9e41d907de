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
