use jiff::ToSpan;
use numbering::records::{Carrier, CarrierType, Exchange, Status};

use super::*;
use crate::quality::tests::{carrier, exchange};

/// When the older versions were imported.
const BEFORE: &str = "2026-11-01T09:00:00Z";

fn measured<'a>(dataset: &'a Dataset, version: &'a Version, days: i64) -> MeasuredVersion<'a> {
    let imported_at = BEFORE.parse::<Timestamp>().unwrap() + (24 * days).hours();
    MeasuredVersion { version, imported_at, file_dates: FileDates::default(), dataset }
}

/// The refusals of an import that turns one dataset into the other so many days later.
fn refusals_after(days: i64, before: &Dataset, after: &Dataset) -> Vec<Refusal> {
    let version = Version::new(BEFORE.parse().unwrap());
    let previous = Some(measured(before, &version, 0));
    changes(&OlderVersions { previous, oldest: None }, &measured(after, &version, days))
}

/// The refusals for what an import changes.
fn changes(older: &OlderVersions<'_>, next: &MeasuredVersion<'_>) -> Vec<Refusal> {
    let mut refusals = check(older, next, &Quality::of(next.dataset), &Notes::default());
    refusals.retain(Refusal::is_of_changes);
    refusals
}

/// The same for an import a day later, in words.
fn refusals(before: &Dataset, after: &Dataset) -> Vec<String> {
    refusals_after(1, before, after).iter().map(ToString::to_string).collect()
}

/// A version with so many exchanges of one area code, of which the first have an OCN.
fn exchanges(count: usize, with_ocn: usize) -> Dataset {
    let exchanges = (200..).take(count).enumerate().map(|(n, nxx)| {
        let ocn = (n < with_ocn).then_some("0051");
        Exchange {
            company_name: Some("A".to_owned()),
            ..exchange(&format!("415-{nxx}"), ocn, "SNFC", Status::Assigned)
        }
    });
    Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges.collect())
}

/// A version with so many carriers, of which the first hold exchanges.
fn carriers(count: u32, with_exchanges: u32, carrier_type: Option<CarrierType>) -> Dataset {
    let carriers = (0..count).map(|n| Carrier {
        carrier_type,
        ..carrier(&format!("{n:04}"), "A", u32::from(n < with_exchanges))
    });
    Dataset::new(carriers.collect(), Vec::new(), Vec::new())
}

#[test]
fn fewer_than_twenty_changes_refuse_nothing() {
    assert_eq!(refusals(&exchanges(60, 60), &exchanges(60, 41)), Vec::<String>::new());
    let changed = refusals(&exchanges(60, 60), &exchanges(60, 15)).join("\n");
    let expected = "45 of 60 US exchanges (75.0 %) would differ from version 20261101";
    assert!(changed.starts_with(expected), "{changed}");
    assert!(changed.contains(", more than 19 in a day: OCN of 45; 415-215 has OCN"), "{changed}");
    assert!(changed.contains("1 area code would lose exchanges"), "{changed}");
    assert!(changed.contains("415 45 of 60"), "{changed}");
}

#[test]
fn a_country_that_more_than_doubles_is_not_compared_with_the_version_before_it() {
    assert_eq!(refusals(&exchanges(40, 40), &exchanges(81, 0)), Vec::<String>::new());
    assert!(!refusals(&exchanges(40, 40), &exchanges(80, 0)).is_empty());
}

#[test]
fn the_overlay_does_not_hide_carriers_that_lose_their_exchanges() {
    let lost = refusals(&carriers(60, 50, None), &carriers(60, 20, None));
    assert_eq!(lost.len(), 1, "{lost:?}");
    let expected = "30 of 60 carriers (50.0 %) would differ from version";
    assert!(lost[0].starts_with(expected), "{lost:?}");
    assert!(lost[0].contains("number of exchanges of 30"), "{lost:?}");
}

#[test]
fn a_first_overlay_may_fill_the_types_of_all_carriers_and_a_later_one_may_not_change_them() {
    let [ilec, clec] = [CarrierType::Ilec, CarrierType::Clec];
    let filled = refusals(&carriers(60, 60, None), &carriers(60, 60, Some(ilec)));
    assert_eq!(filled, Vec::<String>::new());
    let changed = refusals(&carriers(60, 60, Some(ilec)), &carriers(60, 60, Some(clec)));
    let expected = "more than 19: type of 60; 0000 has type 'ILEC' and would have 'CLEC'";
    assert!(changed[0].contains(expected), "{changed:?}");
}

#[test]
fn a_refusal_shows_no_control_characters() {
    let renamed = |name: &str| {
        let carriers = (0..60).map(|n| carrier(&format!("{n:04}"), name, 1));
        Dataset::new(carriers.collect(), Vec::new(), Vec::new())
    };
    let changed = refusals(&renamed("A"), &renamed("B\u{1b}[31m")).join(" ");
    assert!(changed.contains("company name 'A' and would have 'B[31m'"), "{changed}");
}

#[test]
fn an_area_code_may_neither_vanish_nor_lose_a_tenth() {
    let shrunk = refusals(&exchanges(300, 300), &exchanges(270, 270)).join("\n");
    assert!(shrunk.contains("removal of 30; 415-470 would be removed"), "{shrunk}");
    assert!(!shrunk.contains("area code would"), "{shrunk}");
    let shrunk = refusals(&exchanges(300, 300), &exchanges(260, 260)).join("\n");
    assert!(shrunk.contains("1 area code would lose exchanges"), "{shrunk}");
    assert!(shrunk.contains(": 415 40 of 300; check"), "{shrunk}");
    let vanished = refusals(&exchanges(1, 1), &Dataset::default()).join("\n");
    assert!(vanished.contains(": 415 1 of 1; check"), "{vanished}");
}

/// 1,000 exchanges in each of ten states, of which the first `moved` of Alaska lie in California, all
/// of carriers with 1,250 each but for the first of which `sold` belong to the last.
fn states_and_carriers(moved: usize, sold: usize) -> Dataset {
    const STATES: [&str; 10] = ["AK", "CA", "FL", "HI", "ME", "ND", "NY", "RI", "TX", "WY"];
    let exchanges = (0..10_000).map(|n| {
        let state = if n < moved { "CA" } else { STATES[n / 1000] };
        let ocn = if n % 8 == 0 && n / 8 < sold { 7 } else { n % 8 };
        let npa_nxx = format!("{}-{}", 201 + n / 700, 200 + n % 700);
        Exchange {
            state: Some(state.parse().unwrap()),
            ..exchange(&npa_nxx, Some(&format!("000{ocn}")), "SNFC", Status::Assigned)
        }
    });
    let carriers = (0..8).map(|ocn| carrier(&format!("000{ocn}"), "A", 1250));
    Dataset::new(carriers.collect(), Vec::new(), exchanges.collect())
}

#[test]
fn a_state_or_carrier_that_moves_is_named() {
    let lines = |moved, sold| {
        let refusals = refusals(&states_and_carriers(0, 0), &states_and_carriers(moved, sold));
        refusals.into_iter().filter(|line| line.contains("1 state") || line.contains("1 carrier"))
    };
    let state: Vec<_> = lines(1000, 0).collect();
    assert_eq!(state.len(), 1, "{state:?}");
    assert!(state[0].contains(": AK 1000 of 1000, 1000 of them to CA; check"), "{state:?}");
    let carrier: Vec<_> = lines(0, 1250).collect();
    assert_eq!(carrier.len(), 1, "{carrier:?}");
    assert!(carrier[0].contains(": 0000 1250 of 1250, 1250 of them to 0007; check"), "{carrier:?}");
    assert_eq!(lines(100, 625).count(), 0, "a tenth of a state, and half of a carrier");
}

#[test]
fn more_may_change_in_more_days() {
    let (before, after) = (states_and_carriers(0, 0), states_and_carriers(100, 0));
    let changed = |days| {
        let refusals = refusals_after(days, &before, &after);
        refusals.iter().any(|refusal| matches!(refusal, Refusal::Changed { .. }))
    };
    // 100 of 10,000 are 1 %, which 35 days allow.
    assert_eq!([1, 34, 35, 400].map(changed), [true, true, false, false]);
}

#[test]
fn the_dates_of_the_reports_count_if_they_are_further_apart_than_the_imports() {
    let (before, after) = (states_and_carriers(0, 0), states_and_carriers(100, 0));
    let version = Version::new(BEFORE.parse().unwrap());
    let dated =
        |date: &str| FileDates { nanpa: Some(date.parse().unwrap()), ..FileDates::default() };
    let previous =
        MeasuredVersion { file_dates: dated("2026-09-20"), ..measured(&before, &version, 0) };
    let next = MeasuredVersion { file_dates: dated("2026-11-01"), ..measured(&after, &version, 1) };
    let older = OlderVersions { previous: Some(previous), oldest: None };
    let refused = changes(&older, &next);
    let is_of_count = |refusal: &Refusal| matches!(refusal, Refusal::Changed { .. });
    assert!(!refused.iter().any(is_of_count), "{refused:?}");
}

#[test]
fn small_changes_of_several_imports_add_up() {
    let [first, second, third] = [0, 25, 50].map(|moved| states_and_carriers(moved, 0));
    let versions = ["2026-11-01T09:00:00Z", "2026-11-02T09:00:00Z"]
        .map(|time| Version::new(time.parse().unwrap()));
    assert_eq!(refusals(&first, &second), Vec::<String>::new());
    assert_eq!(refusals(&second, &third), Vec::<String>::new());
    let older = OlderVersions {
        previous: Some(measured(&second, &versions[1], 1)),
        oldest: Some(measured(&first, &versions[0], 0)),
    };
    let next = measured(&third, &versions[1], 2);
    let refused = changes(&older, &next);
    let expected = format!("would differ from version {}, more than 34 in 2 days", versions[0]);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].to_string().contains(&expected), "{refused:?}");
}

#[test]
fn exchanges_that_appear_unassigned_are_not_counted() {
    let with_new = |count, status| {
        let new = (0..count).map(|n| exchange(&format!("416-{}", 200 + n), None, "", status));
        let old =
            (0..500).map(|n| exchange(&format!("415-{}", 200 + n), None, "", Status::Assigned));
        Dataset::new(Vec::new(), Vec::new(), old.chain(new).collect())
    };
    let before = with_new(0, Status::Assigned);
    assert_eq!(refusals(&before, &with_new(400, Status::Unassigned)), Vec::<String>::new());
    let assigned = refusals(&before, &with_new(400, Status::Assigned)).join("\n");
    assert!(assigned.contains("addition of 400; 416-200 would be added"), "{assigned}");
}

#[test]
fn the_waivers_of_a_verdict_let_the_same_import_pass() {
    let (before, after) = (states_and_carriers(0, 0), states_and_carriers(1000, 1250));
    let refusals = refusals_after(1, &before, &after);
    let refused = Verdict::new(&refusals, Waivers::default());
    assert_eq!((refused.reasons.len(), refused.confirms_changes), (refusals.len(), false));
    assert!(refused.reasons.iter().all(|reason| !reason.contains('\n')), "one line for each gate");
    let allowed_by = refused.allowed_by.unwrap();
    let allowed = Verdict::new(&refusals, allowed_by);
    assert_eq!((allowed.reasons, allowed.confirms_changes), (Vec::new(), true));
    let fewer = Waivers { max_change: allowed_by.max_change.map(|count| count - 1), ..allowed_by };
    let still = Verdict::new(&refusals, fewer);
    assert_eq!((still.reasons.len(), still.allowed_by), (1, Some(allowed_by)));
}

#[test]
fn nothing_allows_a_file_of_the_future() {
    let (file, found) = (crate::reports::cnac::FILE, "2199-01-01".parse().unwrap());
    let all = Waivers { max_change: Some(u32::MAX), allow_older: true, ..Waivers::default() };
    let verdict = Verdict::new(&[Refusal::Future { file, found }], all);
    assert_eq!((verdict.reasons.len(), verdict.allowed_by), (1, None));
}
