use super::*;
use jiff::civil::Date;
use numbering::records::CarrierType;

fn code(
    npa_nxx: &str,
    ocn: Option<&str>,
    company: &str,
    state: Option<&str>,
    status: Status,
) -> CodeRow {
    CodeRow {
        npa_nxx: npa_nxx.parse().unwrap(),
        country: Country::Us,
        state: state.map(|state| state.parse().unwrap()),
        status,
        ocn: ocn.map(|ocn| ocn.parse().unwrap()),
        company: Some(company.to_owned()),
        rate_center: None,
        assigned: None,
    }
}

fn overlay_row(ocn: &str, country: Option<Country>) -> OverlayRow {
    OverlayRow {
        ocn: ocn.parse().unwrap(),
        company_name: Some("Known Inc.".to_owned()),
        common_name: Some("Known".to_owned()),
        carrier_type: Some(CarrierType::Clec),
        state: None,
        country,
    }
}

fn block(npa_nxx: &str, digit: u8, ocn: &str) -> AssignedBlock {
    AssignedBlock {
        npa_nxx: npa_nxx.parse().unwrap(),
        digit,
        ocn: ocn.parse().unwrap(),
        company: Some(format!("Block {ocn}")),
        rate_center: Some("BLOCK PLACE".to_owned()),
        effective: Some(Date::constant(2026, 7, 1)),
        state: Some("QC".parse().unwrap()),
    }
}

fn area_code(npa: &str, country: AreaCodeCountry, states: &[&str]) -> AreaCodeRow {
    AreaCodeRow {
        npa: npa.parse().unwrap(),
        country,
        in_service: true,
        states: states.iter().map(|state| state.parse().unwrap()).collect(),
    }
}

fn canadian(code: CodeRow) -> CodeRow {
    CodeRow { country: Country::Ca, ..code }
}

fn dataset() -> (Dataset, String) {
    let mut notes = Notes::default();
    let codes = vec![
        code("613-200", Some("464D"), "Fiber", Some("QC"), Status::Assigned),
        code("613-201", Some("464D"), "FIBER", Some("ON"), Status::Assigned),
        code("613-202", Some("464D"), "FIBER", Some("ON"), Status::Reserved),
        code("613-203", Some("464D"), "FIBER", None, Status::Unassigned),
        code("613-204", None, "No OCN Ltd.", None, Status::Assigned),
    ];
    let rows = ReportRows {
        codes,
        area_codes: vec![area_code("613", AreaCodeCountry::Reported(Country::Us), &["QC"])],
        overlay: vec![
            overlay_row("464D", None),
            overlay_row("9999", Some(Country::Us)),
            overlay_row("9998", None),
        ],
        blocks: vec![
            block("613-200", 3, "464D"),
            block("613-200", 4, "777D"),
            block("613-999", 0, "777D"),
        ],
    };
    let dataset = assemble(rows, &mut notes);
    (dataset, format!("{notes:?}"))
}

#[test]
fn block_holder_is_a_carrier_even_without_codes() {
    let (dataset, notes) = dataset();
    let blocks = dataset.exchange("613-200".parse().unwrap()).unwrap().blocks;
    let names = blocks.iter().map(|(digit, holder)| (*digit, holder.company_name.as_deref()));
    let expected = [(3, Some("FIBER")), (4, Some("Block 777D"))];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(blocks[&4].rate_center.as_deref(), Some("BLOCK PLACE"));
    assert_eq!(blocks[&4].effective, Some(Date::constant(2026, 7, 1)));
    let carrier = dataset.carrier("777D".parse().unwrap()).unwrap();
    assert_eq!((carrier.exchanges.total, carrier.state.unwrap().to_string()), (0, "QC".into()));
    assert!(notes.contains("blocks of exchanges that are in no report"), "{notes}");
}

#[test]
fn most_frequent_name_wins_and_ties_go_to_the_latest() {
    let dated = |(number, (name, assigned)): (usize, (&str, &str))| CodeRow {
        assigned: Some(assigned.parse().unwrap()),
        ..code(&format!("613-{}", 200 + number), Some("464D"), name, None, Status::Assigned)
    };
    let rows = [
        ("AAA OLD", "1999-01-01"),
        ("AAA OLD", "1999-01-01"),
        ("NEW", "1998-01-01"),
        ("NEW", "2020-01-01"),
        ("ONCE", "2025-01-01"),
        ("ZZZ OLD", "2019-12-31"),
        ("ZZZ OLD", "2019-12-31"),
    ];
    let codes = rows.into_iter().enumerate().map(dated).collect();
    let mut notes = Notes::default();
    let dataset = assemble(ReportRows { codes, ..ReportRows::default() }, &mut notes);
    assert_eq!(dataset.carriers().next().unwrap().company_name.as_deref(), Some("NEW"));
    assert!(format!("{notes:?}").contains("464D is 'NEW' rather than 'AAA OLD'"), "{notes:?}");
}

#[test]
fn overlay_fills_in_what_a_carriers_codes_lack() {
    let (dataset, notes) = dataset();
    let carrier = dataset.carrier("464D".parse().unwrap()).unwrap();
    assert_eq!(carrier.company_name.as_deref(), Some("FIBER"));
    assert_eq!(carrier.common_name.as_deref(), Some("Known"));
    assert_eq!(carrier.state.unwrap().to_string(), "ON");
    assert_eq!(carrier.exchanges.total, 3);
    assert_eq!(carrier.exchanges.by_state.values().sum::<u32>(), 3);
    assert!(notes.contains("several spellings"), "{notes}");
    // A row without exchanges is kept if its country is known.
    assert_eq!(dataset.carrier("9999".parse().unwrap()).unwrap().exchanges.total, 0);
    assert!(dataset.carrier("9998".parse().unwrap()).is_none());
    assert!(notes.contains("overlay rows without a country"), "{notes}");
}

#[test]
fn unassigned_code_has_no_holder_and_most_codes_decide_the_state_of_an_area_code() {
    let (dataset, notes) = dataset();
    let holder = |npa_nxx: &str| {
        let exchange = dataset.exchange(npa_nxx.parse().unwrap()).unwrap();
        (exchange.ocn, exchange.company_name)
    };
    assert_eq!(holder("613-203"), (None, None));
    assert!(notes.contains("613-203 names OCN 464D"), "{notes}");
    assert_eq!(holder("613-204"), (None, Some("No OCN Ltd.".to_owned())), "only a name");
    let area_code = dataset.area_code("613".parse().unwrap()).unwrap();
    assert_eq!((area_code.state.unwrap().to_string(), area_code.total_exchanges), ("ON".into(), 5));
    let states: Vec<String> = area_code.states.iter().map(StateCode::to_string).collect();
    assert_eq!(states, ["ON", "QC"]);
}

#[test]
fn row_of_one_country_cannot_take_over_a_code_of_the_other() {
    let mut notes = Notes::default();
    let codes = vec![
        code("907-217", Some("6872"), "GCI", Some("AK"), Status::Assigned),
        canadian(code("907-217", Some("464D"), "Intruder", Some("ON"), Status::Assigned)),
        canadian(code("613-200", Some("464D"), "Fiber", Some("ON"), Status::Assigned)),
        code("613-201", Some("6872"), "Intruder", Some("AK"), Status::Assigned),
        code("876-201", Some("6872"), "Intruder", None, Status::Assigned),
        canadian(code("555-200", Some("464D"), "Fiber", None, Status::Assigned)),
        canadian(code("555-201", Some("464D"), "Fiber", None, Status::Assigned)),
        code("555-202", Some("6872"), "Intruder", None, Status::Assigned),
    ];
    let area_codes = vec![
        area_code("907", AreaCodeCountry::Reported(Country::Us), &["AK"]),
        area_code("613", AreaCodeCountry::Reported(Country::Ca), &["ON"]),
        area_code("876", AreaCodeCountry::Other, &[]),
        area_code("555", AreaCodeCountry::Unstated, &[]),
    ];
    let blocks = vec![block("613-200", 3, "777D")];
    let rows = ReportRows { codes, area_codes, blocks, ..ReportRows::default() };
    let dataset = assemble(rows, &mut notes);
    assert_eq!(dataset.block_count(), 0, "no block of Canada is in a report");
    assert!(format!("{notes:?}").contains("613-200-3"), "{notes:?}");
    let kept: Vec<_> = dataset.exchanges().map(|exchange| exchange.npa_nxx().to_string()).collect();
    assert_eq!(kept, ["555-200", "555-201", "613-200", "907-217"]);
    let us = dataset.exchange("907-217".parse().unwrap()).unwrap();
    assert_eq!((us.company_name.as_deref(), us.country), (Some("GCI"), Country::Us));
    assert!(dataset.area_code("876".parse().unwrap()).is_none());
    let kind =
        |file: &str| format!("{file}: the area code is another country's; the row is left out");
    assert_eq!(notes.warnings[&kind(cnac::FILE)].examples, ["907-217"]);
    assert_eq!(notes.warnings[&kind(nanpa::FILE)].examples, ["613-201", "876-201", "555-202"]);
    assert_eq!(notes.skipped.values().sum::<u32>(), 4 + 1);
}

#[test]
fn unnamed_overlay_row_adds_its_type_without_creating_a_carrier() {
    let nameless =
        |ocn: &str| OverlayRow { company_name: None, ..overlay_row(ocn, Some(Country::Us)) };
    let rows = ReportRows {
        codes: vec![code("907-217", Some("6872"), "GCI", Some("AK"), Status::Assigned)],
        overlay: vec![nameless("6872"), nameless("169D")],
        ..ReportRows::default()
    };
    let dataset = assemble(rows, &mut Notes::default());
    let [carrier] = &dataset.carriers().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(carrier.company_name.as_deref(), Some("GCI"));
    assert_eq!(carrier.carrier_type, Some(CarrierType::Clec));
}

#[test]
fn carrier_without_a_name_in_any_report_has_none() {
    let unnamed = |npa_nxx: &str, ocn: &str| CodeRow {
        company: None,
        ..code(npa_nxx, Some(ocn), "", None, Status::Assigned)
    };
    let of_block = AssignedBlock { company: None, ..block("613-200", 3, "888D") };
    let rows = ReportRows {
        codes: vec![unnamed("613-200", "464D"), unnamed("613-201", "777D")],
        blocks: vec![of_block, block("613-200", 4, "777D")],
        ..ReportRows::default()
    };
    let dataset = assemble(rows, &mut Notes::default());
    let name = |ocn: &str| dataset.carrier(ocn.parse().unwrap()).unwrap().company_name;
    assert_eq!((name("464D"), name("888D")), (None, None));
    assert_eq!(
        name("777D"),
        Some("Block 777D".to_owned()),
        "its codes name nobody, its block does"
    );
    let exchange = dataset.exchange("613-200".parse().unwrap()).unwrap();
    assert_eq!((exchange.company_name, &exchange.blocks[&3].company_name), (None, &None));
}

#[test]
fn overlay_breaks_ties_between_states() {
    let state = |states: &[&str], overlay_state: &str| {
        let codes = states.iter().zip(200..).map(|(state, nxx)| {
            code(&format!("907-{nxx}"), Some("0099"), "Tied", Some(state), Status::Assigned)
        });
        let state = Some(overlay_state.parse().unwrap());
        let overlay = vec![OverlayRow { state, ..overlay_row("0099", None) }];
        let rows = ReportRows { codes: codes.collect(), overlay, ..ReportRows::default() };
        let dataset = assemble(rows, &mut Notes::default());
        dataset.carriers().next().unwrap().state.unwrap().to_string()
    };
    assert_eq!(state(&["AK", "WA"], "WA"), "WA");
    assert_eq!(state(&["AK", "WA"], "NY"), "AK");
    assert_eq!(state(&["AK", "WA", "OR", "OR"], "WA"), "OR");
}
