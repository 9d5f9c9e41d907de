use jiff::civil::date;

use super::*;

fn parse<T: std::str::FromStr<Err: fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn with_plan(plan: NumberingPlan) -> AreaCode {
    AreaCode { plan: Box::new(plan), ..AreaCode::sample("415") }
}

#[test]
fn planned_code_enters_service_on_its_date() {
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
    let (us, geographic) = (Some(Country::Us), AreaCodeService::Geographic);
    for (country, service, total_exchanges, expected) in [
        (us, geographic, 0, true),
        // Jamaica
        (None, geographic, 0, false),
        (us, AreaCodeService::TollFree, 0, false),
        // Canada's 600
        (us, AreaCodeService::NonGeographic, 1, true),
    ] {
        let plan = NumberingPlan { service, ..NumberingPlan::default() };
        let area_code = AreaCode { country, total_exchanges, ..with_plan(plan) };
        assert_eq!(area_code.is_covered(), expected, "{area_code:?}");
    }
}

#[test]
fn area_code_state_is_reported_only_if_unique() {
    let only_state = |states: &[&str]| {
        let states = states.iter().map(|state| parse(state)).collect();
        AreaCode { states, ..AreaCode::sample("415") }.only_state()
    };
    assert_eq!([only_state(&[]), only_state(&["NS", "PE"])], [None, None]);
    assert_eq!(only_state(&["CA"]), Some(parse("CA")));
    let country = |is_in_service| {
        with_plan(NumberingPlan { is_in_service, ..NumberingPlan::default() }).reported_country()
    };
    assert_eq!([country(true), country(false)], [Some(Country::Us), None]);
}

#[test]
fn line_type_is_derived_from_name_or_carrier_type() {
    use CarrierType::{Cap, Clec, Ilec, Ixc, Pcs, Wireless};
    use TypeBasis::{CarriersFile, CompanyFamily, CompanyName};
    let pager = Some(LineType::Pager);
    for (carrier_type, type_basis, family_line_type, expected) in [
        (Some(Wireless), CarriersFile, None, Some((LineType::Wireless, CarriersFile))),
        (Some(Pcs), CompanyFamily, None, Some((LineType::Wireless, CompanyFamily))),
        (Some(Ilec), CompanyName, None, Some((LineType::Landline, CompanyName))),
        (Some(Clec), CarriersFile, None, Some((LineType::LandlineOrVoip, CarriersFile))),
        (Some(Cap), CarriersFile, None, Some((LineType::LandlineOrVoip, CarriersFile))),
        (Some(Ixc), CarriersFile, None, None),
        (None, CarriersFile, None, None),
        (Some(Wireless), CompanyName, pager, Some((LineType::Pager, CompanyName))),
        (Some(Wireless), CompanyFamily, pager, Some((LineType::Pager, CompanyFamily))),
        // The file does not have a line type, so the family's applies.
        (Some(Wireless), CarriersFile, pager, Some((LineType::Pager, CompanyFamily))),
    ] {
        let type_basis = Some(type_basis);
        let carrier =
            Carrier { carrier_type, type_basis, family_line_type, ..Carrier::sample("6010") };
        assert_eq!(carrier.line_type(), expected, "{carrier:?}");
    }
}

#[test]
fn area_code_contains_itself_and_its_exchanges_but_no_carriers() {
    let is_in = |key: RecordKey| ["415", "416"].map(|npa| key.is_in_area_code(parse(npa)));
    assert_eq!(is_in(RecordKey::Exchange(parse("415-416"))), [true, false]);
    assert_eq!(is_in(RecordKey::AreaCode(parse("415"))), [true, false]);
    assert_eq!(is_in(RecordKey::Carrier(parse("0415"))), [false, false]);
}
