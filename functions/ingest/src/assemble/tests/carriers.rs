//! The fields of carriers.

use super::*;

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

#[test]
fn types_and_everyday_names_follow_from_names_unless_the_overlay_has_them() {
    let described = |company: &str, overlay: Option<OverlayRow>| {
        let codes = vec![code("907-217", Some("6630"), company, None)];
        let overlay = overlay.into_iter().collect();
        let rows = ReportRows { codes, overlay, ..ReportRows::default() };
        let carrier = assemble_with_notes(rows).0.carriers().next().unwrap();
        let line = carrier.line_type().map(|(line, basis)| format!("{line} {basis}"));
        let basis = carrier.type_basis.map(|basis| basis.to_string());
        [basis, line, carrier.common_name].map(|value| value.unwrap_or_else(|| "-".to_owned()))
    };
    let overlay = |carrier_type, common_name: Option<&str>| {
        let common_name = common_name.map(str::to_owned);
        Some(OverlayRow { carrier_type, common_name, ..overlay_row("6630", None) })
    };
    let [clec, wireless] = [CarrierType::Clec, CarrierType::Wireless].map(Some);
    for (company, overlay, expected) in [
        ("SPOK, INC.", None, ["COMPANY_FAMILY", "PAGER COMPANY_FAMILY", "Spok"]),
        ("INDIANA PAGING", None, ["COMPANY_NAME", "PAGER COMPANY_NAME", "-"]),
        ("ACME CELLULAR", None, ["COMPANY_NAME", "WIRELESS COMPANY_NAME", "-"]),
        ("ACME", None, ["-", "-", "-"]),
        // A name that repeats the company's is not an everyday name.
        ("Spok", None, ["COMPANY_FAMILY", "PAGER COMPANY_FAMILY", "-"]),
        (
            "SPOK, INC.",
            overlay(wireless, Some("Pagers")),
            ["CARRIERS_FILE", "PAGER COMPANY_FAMILY", "Pagers"],
        ),
        // The family's line type belongs to another type.
        (
            "SPOK, INC.",
            overlay(clec, None),
            ["CARRIERS_FILE", "LANDLINE_OR_VOIP CARRIERS_FILE", "Spok"],
        ),
        ("SPOK, INC.", overlay(None, None), ["COMPANY_FAMILY", "PAGER COMPANY_FAMILY", "Spok"]),
    ] {
        assert_eq!(described(company, overlay), expected, "{company}");
    }
}
