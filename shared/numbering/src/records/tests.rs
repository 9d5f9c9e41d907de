use jiff::civil::date;

use super::*;

fn parse<T: std::str::FromStr<Err: fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn area_code(states: &[&str]) -> AreaCode {
    AreaCode {
        npa: parse("415"),
        state: None,
        states: states.iter().map(|state| parse(state)).collect(),
        country: Some(Country::Us),
        total_exchanges: 0,
        plan: Box::default(),
    }
}

#[test]
fn planned_code_is_in_service_from_its_date_on() {
    let planned = |in_service_on| NumberingPlan {
        is_in_service: false,
        in_service_on,
        ..NumberingPlan::default()
    };
    let plan = planned(Some(date(2026, 6, 18)));
    let days = [17, 18, 19].map(|day| plan.is_in_service_on(date(2026, 6, day)));
    assert_eq!(days, [false, true, true]);
    assert!(!planned(None).is_in_service_on(date(2026, 6, 18)));
    assert!(NumberingPlan::default().is_in_service_on(date(2026, 6, 18)), "without a date");
}

#[test]
fn area_code_is_covered_if_a_report_lists_its_exchanges() {
    let covered = |country, service, total_exchanges| {
        let plan = Box::new(NumberingPlan { service, ..NumberingPlan::default() });
        AreaCode { country, total_exchanges, plan, ..area_code(&[]) }.is_covered()
    };
    let (us, geographic) = (Some(Country::Us), AreaCodeService::Geographic);
    assert!(covered(us, geographic, 0));
    assert!(!covered(None, geographic, 0), "in Jamaica");
    assert!(!covered(us, AreaCodeService::TollFree, 0));
    assert!(covered(us, AreaCodeService::NonGeographic, 1), "Canada's 600");
}

#[test]
fn only_the_single_state_or_country_of_an_area_code_is_told() {
    let only_state = |states: &[&str]| area_code(states).only_state();
    assert_eq!([only_state(&[]), only_state(&["NS", "PE"])], [None, None]);
    assert_eq!(only_state(&["CA"]), Some(parse("CA")));
    let country = |is_in_service| {
        let plan = Box::new(NumberingPlan { is_in_service, ..NumberingPlan::default() });
        AreaCode { plan, ..area_code(&[]) }.reported_country()
    };
    assert_eq!([country(true), country(false)], [Some(Country::Us), None]);
}

#[test]
fn a_pooled_block_is_held_from_its_effective_date() {
    let start = Date::constant(2026, 7, 1);
    let holder = |effective| BlockHolder {
        ocn: "6529".parse().unwrap(),
        company_name: None,
        carrier_type: None,
        rate_center: None,
        effective,
    };
    let (dated, undated) = (holder(Some(start)), holder(None));
    let mut exchange = Exchange {
        npa: "415".parse().unwrap(),
        nxx: "200".parse().unwrap(),
        ocn: Some("9740".parse().unwrap()),
        company_name: None,
        carrier_type: None,
        rate_center: None,
        state: None,
        country: Country::Us,
        status: Status::Assigned,
        blocks: [(1, dated.clone()), (2, undated.clone())].into(),
    };
    let (before, after) = (start.yesterday().unwrap(), start.tomorrow().unwrap());
    assert_eq!(exchange.holding_on(1, before), BlockHolding::Pending(&dated));
    assert_eq!(exchange.holding_on(1, start), BlockHolding::Block(&dated));
    assert_eq!(exchange.holding_on(1, after), BlockHolding::Block(&dated));
    assert_eq!(exchange.holding_on(2, before), BlockHolding::Block(&undated));
    assert_eq!(exchange.holding_on(3, after), BlockHolding::Unassigned);
    let ocns: Vec<String> = exchange.ocns().map(|ocn| ocn.to_string()).collect();
    assert_eq!(ocns, ["9740", "6529", "6529"]);
    exchange.blocks.clear();
    assert_eq!(exchange.holding_on(1, after), BlockHolding::Exchange);
}

#[test]
fn line_type_follows_from_the_name_or_the_carrier_type() {
    use CarrierType::{Cap, Clec, Ilec, Ixc, Pcs, Wireless};
    use TypeBasis::{CarriersFile, CompanyFamily, CompanyName};
    let line_type = |carrier_type, type_basis, family_line_type| {
        let carrier = Carrier {
            ocn: parse("6010"),
            company_name: None,
            common_name: None,
            carrier_type,
            type_basis,
            family_line_type,
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges::default(),
        };
        carrier.line_type()
    };
    for (carrier_type, expected) in [
        (Wireless, Some(LineType::Wireless)),
        (Pcs, Some(LineType::Wireless)),
        (Ilec, Some(LineType::Landline)),
        (Clec, Some(LineType::LandlineOrVoip)),
        (Cap, Some(LineType::LandlineOrVoip)),
        (Ixc, None),
    ] {
        for basis in [CarriersFile, CompanyFamily, CompanyName] {
            let expected = expected.map(|line_type| (line_type, basis));
            assert_eq!(line_type(Some(carrier_type), Some(basis), None), expected);
        }
    }
    let pager = |basis| line_type(Some(Wireless), basis, Some(LineType::Pager));
    assert_eq!(pager(Some(CompanyName)), Some((LineType::Pager, CompanyName)));
    assert_eq!(pager(Some(CompanyFamily)), Some((LineType::Pager, CompanyFamily)));
    // The file gives no line type, so it is the family's.
    assert_eq!(pager(Some(CarriersFile)), Some((LineType::Pager, CompanyFamily)));
    assert_eq!(line_type(None, None, None), None);
}

#[test]
fn area_code_and_its_exchanges_are_in_it_and_carriers_are_not() {
    let is_in = |key: RecordKey| ["415", "416"].map(|npa| key.is_in_area_code(parse(npa)));
    assert_eq!(is_in(RecordKey::Exchange(parse("415-416"))), [true, false]);
    assert_eq!(is_in(RecordKey::AreaCode(parse("415"))), [true, false]);
    assert_eq!(is_in(RecordKey::Carrier(parse("0415"))), [false, false]);
}
