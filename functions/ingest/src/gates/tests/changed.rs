//! The gates that compare versions.

use std::iter::repeat_n;

use numbering::records::{AreaCode, BlockHolder};

use super::*;
use crate::gates::changed::allowed_changes;

#[test]
fn allowed_changes_grow_with_days_and_are_at_least_19() {
    for (records, days, expected) in [
        (202_468, Some(1), 648),
        (202_468, Some(4), 769),
        (202_468, Some(30), 1822),
        (202_468, Some(85), 4049),
        (202_468, Some(1000), 4049),
        (44_000, Some(1), 141),
        (3084, None, 62),
        (0, Some(1), 19),
        (3484, Some(1), 19),
    ] {
        assert_eq!(allowed_changes(records, days), expected, "{records} {days:?}");
    }
}

/// A version with three exchanges that have ten thousands blocks each. `holder_of` chooses the holder of each block.
fn blocks(holder_of: impl Fn(usize) -> Option<&'static str>) -> Dataset {
    let holder = |ocn: &str| BlockHolder {
        ocn: ocn.parse().unwrap(),
        company_name: None,
        carrier_type: None,
        rate_center: None,
        effective: None,
    };
    let exchanges = (0..3).map(|n| {
        let held = (0..10).filter_map(|digit| Some((digit, holder_of(10 * n + digit)?)));
        Exchange {
            blocks: held.map(|(digit, ocn)| (digit as u8, holder(ocn))).collect(),
            ..exchange(&npa_nxx(n), Some("0051"), "SNFC", Status::Assigned)
        }
    });
    let exchanges = exchanges.collect();
    let carriers = ["0051", "0052", "0053"].map(|ocn| carrier(ocn, ocn, 1)).to_vec();
    Dataset::new(carriers, Vec::new(), exchanges)
}

/// 60 exchanges of one company, with or without an OCN.
fn company(name: &str, ocn: Option<&str>) -> Dataset {
    let exchanges = (200..260).map(|nxx| Exchange {
        company_name: Some(name.to_owned()),
        ..exchange(&format!("415-{nxx}"), ocn, "SNFC", Status::Assigned)
    });
    Dataset::new(vec![carrier("0051", name, 60)], Vec::new(), exchanges.collect())
}

fn area_codes(state: Option<&str>) -> Dataset {
    let area_codes = (201..261).map(|npa| AreaCode {
        state: state.map(|state| state.parse().unwrap()),
        ..area_code(&npa.to_string(), 0)
    });
    Dataset::new(Vec::new(), area_codes.collect(), Vec::new())
}

/// 500 exchanges, and `count` others.
fn with_new(count: usize, status: Status) -> Dataset {
    let old = repeat_n(("415", Status::Assigned), 500).zip(200..);
    let new = repeat_n(("416", status), count).zip(200..);
    let exchange = |((npa, status), nxx)| exchange(&format!("{npa}-{nxx}"), None, "", status);
    only_exchanges(old.chain(new).map(exchange))
}

#[test]
fn refusals_count_what_differs_and_give_an_example() {
    let [ilec, clec] = [CarrierType::Ilec, CarrierType::Clec].map(Some);
    let original = blocks(|_| Some("0052"));
    let sold = |count| blocks(move |n| Some(if n < count { "0053" } else { "0052" }));
    let lost = |count| blocks(move |n| (n >= count).then_some("0052"));
    let untyped = carriers(60, 60, "A", None);
    let typed = carriers(60, 60, "A", ilec);
    let old = with_new(0, Status::Assigned);
    for (before, after, expected) in [
        (&exchanges(60, 60), &exchanges(60, 41), &[][..]),
        (
            &exchanges(60, 60),
            &exchanges(60, 15),
            &[
                "45 of 60 US exchanges (75.0%) would differ from version 20261101",
                ", more than 19 in a day: ocn (45); 415-215 would change ocn from '0051' to none; check",
                "1 area code would lose or change exchanges",
                "415 45 of 60",
            ],
        ),
        // Over twice the exchanges are not compared.
        (&exchanges(40, 40), &exchanges(80, 0), &["ocn (40)"]),
        (&exchanges(40, 40), &exchanges(81, 0), &[]),
        // The first overlay sets all types.
        (&untyped, &typed, &[]),
        (
            &typed,
            &carriers(60, 30, "A", ilec),
            &[
                "30 of 60 carriers (50.0%) would differ from version",
                "more than 19: exchanges.total (30)",
            ],
        ),
        (
            &typed,
            &carriers(60, 60, "A", clec),
            &[
                "more than 19: carrier_type (60); 0000 would change carrier_type from 'ILEC' to 'CLEC'",
            ],
        ),
        (&typed, &carriers(60, 60, "B\u{1b}[31m", ilec), &["company_name from 'A' to 'B[31m'"]),
        (&original, &sold(19), &[]),
        (&original, &lost(19), &[]),
        (
            &original,
            &sold(20),
            &["19: ocn (20); 201-200-0 would change ocn from '0052' to '0053'; check"],
        ),
        (
            &original,
            &lost(20),
            &[
                "19: removal (20); 201-200-0 would be removed; check",
                "20 of 30 thousands blocks (66.7%) would differ",
            ],
        ),
        // New blocks are not counted.
        (&lost(30), &original, &[]),
        (&lost(15), &original, &[]),
        // A renamed company counts once, not in each of its exchanges.
        (&company("A", Some("0051")), &company("B", Some("0051")), &[]),
        (
            &company("A", None),
            &company("B", None),
            &["company_name (60); 415-200 would change company_name from 'A' to 'B'"],
        ),
        (&area_codes(None), &area_codes(Some("CA")), &[]),
        (
            &area_codes(Some("CA")),
            &area_codes(Some("NV")),
            &["60 of 60 area codes (100.0%) would differ", "state (60); 201 would"],
        ),
        (&old, &with_new(400, Status::Unassigned), &[]),
        (&old, &with_new(400, Status::Assigned), &["addition (400); 416-200 would be added"]),
    ] {
        let refusals = refusals(before, after);
        assert_eq!(refusals.is_empty(), expected.is_empty(), "{expected:?}: {refusals}");
        for expected in expected {
            assert!(refusals.contains(expected), "{expected}: {refusals}");
        }
    }
}

#[test]
fn more_days_between_imports_or_reports_allow_more_changes() {
    let (before, after) = (states_and_carriers(1000, 0, 0), states_and_carriers(1000, 100, 0));
    let is_count = |refusal: &Refusal| refusal.reason.contains("US exchanges (");
    let changed = |days| refusals_after(days, &before, &after).iter().any(is_count);
    // 100 of 10,000 is 1%, which is allowed after 35 days.
    assert_eq!([1, 34, 35, 400].map(changed), [true, true, false, false]);
    let dated_snapshot =
        |days, date: &str| Snapshot { reports: dated(ReportName::Nanpa, date), ..snapshot(days) };
    let (older, next) = (dated_snapshot(0, "2026-09-20"), dated_snapshot(1, "2026-11-01"));
    let refused = refused_changes(&[measured(&older, &before)], measured(&next, &after));
    assert!(!refused.iter().any(is_count), "{refused:?}");
}
