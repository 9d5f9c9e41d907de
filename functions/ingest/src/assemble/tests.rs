mod carriers;

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
fn all_codes_of_an_area_have_several_time_zones_if_one_has() {
    let row = |npa: &str, overlay: &[&str], has_several_time_zones| {
        let plan = NumberingPlan { has_several_time_zones, ..NumberingPlan::default() };
        let overlays = vec![overlay.iter().map(|npa| parse(npa)).collect()];
        AreaCodeRow { overlays, plan, ..area_code(npa, AreaCodeCountry::Unstated, &["FL"]) }
    };
    let area_codes = vec![
        row("850", &["448", "850"], true),
        row("448", &["448", "850"], false),
        row("906", &[], true),
        row("305", &["305", "786"], false),
        row("786", &["305", "786"], false),
    ];
    let (dataset, _) = assemble_with_notes(ReportRows { area_codes, ..ReportRows::default() });
    let split = dataset.area_codes().filter(|code| code.plan.has_several_time_zones);
    let split: Vec<String> = split.map(|code| code.npa.to_string()).collect();
    assert_eq!(split, ["448", "850", "906"]);
    let area_code = dataset.area_code(parse("305")).unwrap();
    assert_eq!(area_code.plan.overlay, BTreeSet::from([parse("305"), parse("786")]));
    assert_eq!(area_code.state, Some(parse("FL")), "the report's, without exchanges");
}

#[test]
fn later_rows_replace_earlier_ones() {
    let rows = ReportRows {
        codes: vec![
            code("907-217", Some("6872"), "Earlier", None),
            code("907-217", Some("6872"), "Later", None),
        ],
        overlay: vec![
            OverlayRow { common_name: Some("Old".to_owned()), ..overlay_row("6872", None) },
            overlay_row("6872", None),
        ],
        blocks: vec![block("907-217", 3, "464D"), block("907-217", 3, "777D")],
        ..ReportRows::default()
    };
    let (dataset, notes) = assemble_with_notes(rows);
    let exchange = dataset.exchange(parse("907-217")).unwrap();
    assert_eq!(exchange.company_name.as_deref(), Some("Later"));
    assert_eq!(exchange.blocks[&3].ocn, parse("777D"));
    let carrier = dataset.carrier(parse("6872")).unwrap();
    assert_eq!(carrier.common_name.as_deref(), Some("Known"));
    assert_eq!(notes.skipped.values().sum::<u32>(), 3, "{notes:?}");
    for warning in [
        "duplicate NPA-NXX; the later row is used",
        "duplicate thousands block; the later row is used",
        "duplicate OCN in the overlay; the later row is used",
    ] {
        assert_eq!(notes.warnings[warning].count, 1, "{warning}");
    }
}

#[test]
fn kept_blocks_are_those_of_the_country() {
    let blocks = vec![
        block("907-217", 3, "777D"),
        AssignedBlock { country: Country::Ca, ..block("613-200", 4, "464D") },
    ];
    let codes = vec![code("907-217", None, "A", None), canadian(code("613-200", None, "B", None))];
    let (dataset, _) = assemble_with_notes(ReportRows { codes, blocks, ..ReportRows::default() });
    let expected = |country, npa_nxx, digit, ocn| {
        // A dataset has no state for a block.
        vec![AssignedBlock { country, state: None, ..block(npa_nxx, digit, ocn) }]
    };
    assert_eq!(blocks_in(&dataset, Country::Us), expected(Country::Us, "907-217", 3, "777D"));
    assert_eq!(blocks_in(&dataset, Country::Ca), expected(Country::Ca, "613-200", 4, "464D"));
}
