use std::{fmt::Debug, str::FromStr};

use jiff::civil::Date;
use numbering::records::CarrierType;

use super::*;

fn parse<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// An assigned US code.
fn code(npa_nxx: &str, ocn: Option<&str>, company: &str, state: Option<&str>) -> CodeRow {
    CodeRow {
        npa_nxx: parse(npa_nxx),
        country: Country::Us,
        state: state.map(parse),
        status: Status::Assigned,
        ocn: ocn.map(parse),
        company: Some(company.to_owned()),
        rate_center: None,
        assigned: None,
    }
}

fn overlay_row(ocn: &str, country: Option<Country>) -> OverlayRow {
    OverlayRow {
        ocn: parse(ocn),
        company_name: Some("Known Inc.".to_owned()),
        common_name: Some("Known".to_owned()),
        carrier_type: Some(CarrierType::Clec),
        state: None,
        country,
    }
}

fn block(npa_nxx: &str, digit: u8, ocn: &str) -> AssignedBlock {
    AssignedBlock {
        npa_nxx: parse(npa_nxx),
        country: Country::Us,
        digit,
        ocn: parse(ocn),
        company: Some(format!("Block {ocn}")),
        rate_center: Some("BLOCK PLACE".to_owned()),
        effective: Some(Date::constant(2026, 7, 1)),
        state: Some(parse("QC")),
    }
}

fn area_code(npa: &str, country: AreaCodeCountry, states: &[&str]) -> AreaCodeRow {
    AreaCodeRow {
        npa: parse(npa),
        country,
        is_assigned: true,
        overlays: Vec::new(),
        plan: NumberingPlan::default(),
        states: states.iter().map(|state| parse(state)).collect(),
    }
}

fn canadian(code: CodeRow) -> CodeRow {
    CodeRow { country: Country::Ca, ..code }
}

fn assemble_with_notes(rows: ReportRows) -> (Dataset, Notes) {
    let mut notes = Notes::default();
    (assemble(rows, &mut notes), notes)
}

fn dataset() -> (Dataset, String) {
    let codes = vec![
        code("613-200", Some("464D"), "Fiber", Some("QC")),
        code("613-201", Some("464D"), "FIBER", Some("ON")),
        code("613-202", Some("464D"), "FIBER", Some("ON")),
        CodeRow { status: Status::Unassigned, ..code("613-203", Some("464D"), "FIBER", None) },
        code("613-204", None, "No OCN Ltd.", None),
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
    let (dataset, notes) = assemble_with_notes(rows);
    (dataset, format!("{notes:?}"))
}

#[test]
fn block_holder_is_a_carrier_even_without_codes() {
    let (dataset, notes) = dataset();
    let blocks = dataset.exchange(parse("613-200")).unwrap().blocks;
    let names = blocks.iter().map(|(digit, holder)| (*digit, holder.company_name.as_deref()));
    let expected = [(3, Some("FIBER")), (4, Some("Block 777D"))];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(blocks[&4].rate_center.as_deref(), Some("BLOCK PLACE"));
    assert_eq!(blocks[&4].effective, Some(Date::constant(2026, 7, 1)));
    assert_eq!(dataset.block_count(), blocks.len());
    let carrier = dataset.carrier(parse("777D")).unwrap();
    assert_eq!((carrier.exchanges.total, carrier.state.unwrap().to_string()), (0, "QC".into()));
    assert!(notes.contains("blocks in unknown exchanges"), "{notes}");
}

#[test]
fn most_frequent_name_wins_and_ties_go_to_the_latest() {
    let dated = |(index, (name, assigned)): (usize, (&str, &str))| CodeRow {
        assigned: Some(parse(assigned)),
        ..code(&format!("613-{}", 200 + index), Some("464D"), name, None)
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
    let (dataset, notes) = assemble_with_notes(ReportRows { codes, ..ReportRows::default() });
    assert_eq!(dataset.carriers().next().unwrap().company_name.as_deref(), Some("NEW"));
    assert!(format!("{notes:?}").contains("464D is 'NEW' rather than 'AAA OLD'"), "{notes:?}");
}

#[test]
fn overlay_fills_in_missing_carrier_fields() {
    let (dataset, notes) = dataset();
    let carrier = dataset.carrier(parse("464D")).unwrap();
    assert_eq!(carrier.company_name.as_deref(), Some("FIBER"));
    assert_eq!(carrier.common_name.as_deref(), Some("Known"));
    assert_eq!(carrier.state.unwrap().to_string(), "ON");
    assert_eq!(carrier.exchanges.total, 3);
    assert_eq!(carrier.exchanges.by_state.values().sum::<u32>(), 3);
    assert!(notes.contains("several company names"), "{notes}");
    // An overlay row whose OCN has no exchanges is kept if its country is known.
    assert_eq!(dataset.carrier(parse("9999")).unwrap().exchanges.total, 0);
    assert!(dataset.carrier(parse("9998")).is_none());
    assert!(notes.contains("rows without a country"), "{notes}");
}

#[test]
fn unassigned_code_loses_its_holder_and_area_code_gets_its_most_frequent_state() {
    let (dataset, notes) = dataset();
    let holder = |npa_nxx: &str| {
        let exchange = dataset.exchange(parse(npa_nxx)).unwrap();
        (exchange.ocn, exchange.company_name)
    };
    assert_eq!(holder("613-203"), (None, None));
    assert!(notes.contains("613-203 names OCN 464D"), "{notes}");
    assert_eq!(holder("613-204"), (None, Some("No OCN Ltd.".to_owned())), "a name without an OCN");
    let area_code = dataset.area_code(parse("613")).unwrap();
    assert_eq!((area_code.state.unwrap().to_string(), area_code.total_exchanges), ("ON".into(), 5));
    let states: Vec<String> = area_code.states.iter().map(StateCode::to_string).collect();
    assert_eq!(states, ["ON", "QC"]);
}

#[test]
fn overlays_are_symmetric_and_leave_out_unassigned_codes() {
    let row = |npa: &str, overlays: &str| {
        let lists = overlays.split(", ").filter(|list| !list.is_empty());
        let overlays = lists.map(|list| list.split('/').map(parse).collect()).collect();
        AreaCodeRow { overlays, ..area_code(npa, AreaCodeCountry::Reported(Country::Us), &[]) }
    };
    let rows = [
        row("212", "212/646/917"),
        row("646", "212/646/917"),
        row("718", "347/718/917"),
        row("347", "347/718/917"),
        row("917", "212/646/917, 347/718/917"),
        // A later code names the older ones, which do not name it.
        row("407", "321/407/679"),
        row("321", ""),
        row("415", ""),
        AreaCodeRow { is_assigned: false, ..row("679", "415/679") },
    ];
    let text =
        |codes: &BTreeSet<Npa>| codes.iter().map(ToString::to_string).collect::<Vec<_>>().join("/");
    let overlays: Vec<String> =
        overlays(&rows).iter().map(|(npa, codes)| format!("{npa}: {}", text(codes))).collect();
    assert_eq!(
        overlays,
        [
            "212: 212/646/917",
            "321: 321/407",
            "347: 347/718/917",
            "407: 321/407",
            "646: 212/646/917",
            "718: 347/718/917",
            "917: 212/347/646/718/917",
        ]
    );
}

#[test]
fn rows_for_the_other_countrys_area_codes_are_skipped() {
    let codes = vec![
        code("907-217", Some("6872"), "GCI", Some("AK")),
        canadian(code("907-217", Some("464D"), "Intruder", Some("ON"))),
        canadian(code("613-200", Some("464D"), "Fiber", Some("ON"))),
        code("613-201", Some("6872"), "Intruder", Some("AK")),
        code("876-201", Some("6872"), "Intruder", None),
        canadian(code("555-200", Some("464D"), "Fiber", None)),
        canadian(code("555-201", Some("464D"), "Fiber", None)),
        code("555-202", Some("6872"), "Intruder", None),
    ];
    let area_codes = vec![
        area_code("907", AreaCodeCountry::Reported(Country::Us), &["AK"]),
        area_code("613", AreaCodeCountry::Reported(Country::Ca), &["ON"]),
        area_code("876", AreaCodeCountry::Other, &[]),
        area_code("555", AreaCodeCountry::Unstated, &[]),
    ];
    let blocks = vec![block("613-200", 3, "777D")];
    let rows = ReportRows { codes, area_codes, blocks, ..ReportRows::default() };
    let (dataset, notes) = assemble_with_notes(rows);
    assert_eq!(dataset.block_count(), 0, "Canadian blocks are skipped");
    assert!(format!("{notes:?}").contains("613-200-3"), "{notes:?}");
    let kept: Vec<_> = dataset.exchanges().map(|exchange| exchange.npa_nxx().to_string()).collect();
    assert_eq!(kept, ["555-200", "555-201", "613-200", "907-217"]);
    let us = dataset.exchange(parse("907-217")).unwrap();
    assert_eq!((us.company_name.as_deref(), us.country), (Some("GCI"), Country::Us));
    assert_eq!(dataset.area_code(parse("876")).unwrap().country, None);
    let rule = "the area code belongs to another country; the row is skipped";
    let examples = |file: &str| &*notes.warnings[&format!("{file}: {rule}")].examples;
    assert_eq!(examples(reports::file(ReportName::codes(Country::Ca))), ["907-217"]);
    assert_eq!(
        examples(reports::file(ReportName::codes(Country::Us))),
        ["613-201", "876-201", "555-202"]
    );
    assert_eq!(notes.skipped.values().sum::<u32>(), 4 + 1);
}

#[test]
fn unnamed_overlay_row_sets_the_type_but_does_not_create_a_carrier() {
    let nameless =
        |ocn: &str| OverlayRow { company_name: None, ..overlay_row(ocn, Some(Country::Us)) };
    let rows = ReportRows {
        codes: vec![code("907-217", Some("6872"), "GCI", Some("AK"))],
        overlay: vec![nameless("6872"), nameless("169D")],
        ..ReportRows::default()
    };
    let (dataset, _) = assemble_with_notes(rows);
    let [carrier] = &dataset.carriers().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(carrier.company_name.as_deref(), Some("GCI"));
    assert_eq!(carrier.carrier_type, Some(CarrierType::Clec));
}

#[test]
fn carrier_name_falls_back_to_its_blocks_or_is_missing() {
    let unnamed =
        |npa_nxx: &str, ocn: &str| CodeRow { company: None, ..code(npa_nxx, Some(ocn), "", None) };
    let unnamed_block = AssignedBlock { company: None, ..block("613-200", 3, "888D") };
    let renamed_block =
        AssignedBlock { company: Some("A".to_owned()), ..block("613-201", 0, "777D") };
    let rows = ReportRows {
        codes: vec![unnamed("613-200", "464D"), unnamed("613-201", "777D")],
        blocks: vec![
            unnamed_block,
            renamed_block,
            block("613-200", 4, "777D"),
            block("613-200", 5, "777D"),
        ],
        ..ReportRows::default()
    };
    let (dataset, _) = assemble_with_notes(rows);
    let name = |ocn: &str| dataset.carrier(parse(ocn)).unwrap().company_name;
    assert_eq!((name("464D"), name("888D")), (None, None));
    assert_eq!(name("777D").as_deref(), Some("Block 777D"), "the most frequent name in its blocks");
    let exchange = dataset.exchange(parse("613-200")).unwrap();
    assert_eq!((exchange.company_name, &exchange.blocks[&3].company_name), (None, &None));
}

#[test]
fn overlay_breaks_ties_between_states() {
    let state = |states: &[&str], overlay_state: &str| {
        let codes = states.iter().zip(200..);
        let codes =
            codes.map(|(state, nxx)| code(&format!("907-{nxx}"), Some("0099"), "A", Some(state)));
        let state = Some(parse(overlay_state));
        let overlay = vec![OverlayRow { state, ..overlay_row("0099", None) }];
        let rows = ReportRows { codes: codes.collect(), overlay, ..ReportRows::default() };
        let (dataset, _) = assemble_with_notes(rows);
        dataset.carriers().next().unwrap().state.unwrap().to_string()
    };
    assert_eq!(state(&["AK", "WA"], "WA"), "WA");
    assert_eq!(state(&["AK", "WA"], "NY"), "AK");
    assert_eq!(state(&["AK", "WA", "OR", "OR"], "WA"), "OR");
}
