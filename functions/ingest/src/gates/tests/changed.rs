//! Tests the gates that compare versions.

use std::iter::repeat_n;

use numbering::records::{AreaCode, BlockHolder};

use super::*;
use crate::gates::changed::allowed_changes;

#[test]
fn allowed_changes_grow_with_days_and_start_at_19() {
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

/// A version with `count` exchanges of a company in one area code; the first `with_ocn` have an OCN.
fn company(name: &str, count: usize, with_ocn: usize) -> Dataset {
    let exchanges = (200..).take(count).enumerate().map(|(n, nxx)| {
        let ocn = (n < with_ocn).then_some("0051");
        Exchange {
            company_name: Some(name.to_owned()),
            ..exchange(&format!("415-{nxx}"), ocn, "SNFC", Status::Assigned)
        }
    });
    Dataset::new(vec![carrier("0051", name, 1)], Vec::new(), exchanges.collect())
}

/// A version with three exchanges of ten thousands blocks each. `holder_of` returns the holder of each block.
fn blocks(holder_of: impl Fn(usize) -> Option<&'static str>) -> Dataset {
    let exchanges = (0..3).map(|n| {
        let held = (0..10).filter_map(|digit| Some((digit, holder_of(10 * n + digit)?)));
        Exchange {
            blocks: held.map(|(digit, ocn)| (digit as u8, BlockHolder::sample(ocn))).collect(),
            ..exchange(&npa_nxx(n), Some("0051"), "SNFC", Status::Assigned)
        }
    });
    let carriers = ["0051", "0052", "0053"].map(|ocn| carrier(ocn, ocn, 1)).to_vec();
    Dataset::new(carriers, Vec::new(), exchanges.collect())
}

fn area_codes(state: Option<&str>) -> Dataset {
    let area_codes = (201..261).map(|npa| AreaCode {
        state: state.map(|state| state.parse().unwrap()),
        ..area_code(&npa.to_string(), 0)
    });
    Dataset::new(Vec::new(), area_codes.collect(), Vec::new())
}

/// 500 exchanges, plus `count` new ones.
fn with_new_exchanges(count: usize, status: Status) -> Dataset {
    let old = repeat_n(("415", Status::Assigned), 500).zip(200..);
    let new = repeat_n(("416", status), count).zip(200..);
    let exchange = |((npa, status), nxx)| exchange(&format!("{npa}-{nxx}"), None, "", status);
    only_exchanges(old.chain(new).map(exchange))
}

/// Area codes that each lose the first `lost` of their 100 exchanges.
fn with_losses(area_codes: usize, lost: usize) -> Dataset {
    let codes = (0..area_codes).flat_map(|area_code| {
        (200..300).skip(lost).map(move |nxx| format!("{}-{nxx}", 201 + area_code))
    });
    only_exchanges(codes.map(|code| exchange(&code, None, "SNFC", Status::Assigned)))
}

#[test]
fn refusals_count_what_differs_and_name_examples() {
    let [ilec, clec] = [CarrierType::Ilec, CarrierType::Clec].map(Some);
    let held = || blocks(|_| Some("0052"));
    let sold = |count| blocks(move |n| Some(if n < count { "0053" } else { "0052" }));
    let lost = |count| blocks(move |n| (n >= count).then_some("0052"));
    let typed = || carriers(60, 60, "A", ilec);
    let old = || with_new_exchanges(0, Status::Assigned);
    let exchanges = |count, with_ocn| company("A", count, with_ocn);
    let [with_ocn, without_ocn] = [60, 0].map(|ocns| move |name: &str| company(name, 60, ocns));
    let original = |per_state| states_and_carriers(per_state, 0, 0);
    let changed = states_and_carriers;
    let cases = [
        ("19 exchanges without an OCN", exchanges(60, 60), exchanges(60, 41)),
        ("45 exchanges without an OCN", exchanges(60, 60), exchanges(60, 15)),
        ("twice the exchanges", exchanges(40, 40), exchanges(80, 0)),
        ("over twice the exchanges, which are not compared", exchanges(40, 40), exchanges(81, 0)),
        ("the first types", carriers(60, 60, "A", None), typed()),
        ("30 carriers without exchanges", typed(), carriers(60, 30, "A", ilec)),
        ("60 carriers of a different type", typed(), carriers(60, 60, "A", clec)),
        ("60 carriers with a different name", typed(), carriers(60, 60, "B\u{1b}[31m", ilec)),
        ("19 blocks with a different holder", held(), sold(19)),
        ("19 lost blocks", held(), lost(19)),
        ("20 blocks with a different holder", held(), sold(20)),
        ("20 lost blocks", held(), lost(20)),
        ("30 new blocks", lost(30), held()),
        ("15 new blocks", lost(15), held()),
        ("a renamed company counts once", with_ocn("A"), with_ocn("B")),
        ("a renamed company without an OCN", without_ocn("A"), without_ocn("B")),
        ("the first states of area codes", area_codes(None), area_codes(Some("CA"))),
        ("other states of area codes", area_codes(Some("CA")), area_codes(Some("NV"))),
        ("new unassigned exchanges", old(), with_new_exchanges(400, Status::Unassigned)),
        ("new assigned exchanges", old(), with_new_exchanges(400, Status::Assigned)),
        ("an area code that loses a tenth", exchanges(300, 300), exchanges(270, 270)),
        ("an area code that loses more", exchanges(300, 300), exchanges(260, 260)),
        ("the only exchange of an area code", exchanges(1, 1), Dataset::default()),
        ("19 exchanges of an area code", with_losses(1, 0), with_losses(1, 19)),
        ("20 exchanges of an area code", with_losses(1, 0), with_losses(1, 20)),
        ("five area codes are named", with_losses(5, 0), with_losses(5, 20)),
        ("seven are not", with_losses(7, 0), with_losses(7, 20)),
        ("a state", original(1000), changed(1000, 1000, 0)),
        ("a carrier", original(1000), changed(1000, 0, 1250)),
        ("a tenth of a state, and half of a carrier", original(1000), changed(1000, 100, 625)),
        ("a state with 500 exchanges", original(500), changed(500, 500, 0)),
        ("a state with 499 exchanges", original(499), changed(499, 499, 0)),
    ];
    let text = cases.map(|(title, before, after)| {
        let older = snapshot(0);
        let reasons = refusals_after(1, &older, &before, &after).into_iter().map(|it| it.reason);
        let reasons = reasons.collect::<Vec<_>>().join("\n");
        format!("= {title}\n{}\n", reasons.replace(older.version.as_str(), "VERSION"))
    });
    insta::assert_snapshot!(text.concat());
}

#[test]
fn more_days_between_imports_or_reports_allow_more_changes() {
    let (before, after) = (states_and_carriers(1000, 0, 0), states_and_carriers(1000, 100, 0));
    let is_count = |refusal: &Refusal| refusal.reason.contains("US exchanges (");
    let changed = |days| refusals_after(days, &snapshot(0), &before, &after).iter().any(is_count);
    // 100 of 10,000 is 1%, which is allowed after 35 days.
    assert_eq!([1, 34, 35, 400].map(changed), [true, true, false, false]);
    let [older, next] = [(0, "2026-09-20"), (1, "2026-11-01")]
        .map(|(days, date)| Snapshot { reports: dated(ReportName::Nanpa, date), ..snapshot(days) });
    let older = MeasuredVersion { snapshot: &older, dataset: &before };
    let refused = refused_changes(older, MeasuredVersion { snapshot: &next, dataset: &after });
    assert!(!refused.iter().any(is_count), "{refused:?}");
}
