use numbering::records::{Carrier, CarrierType, Exchange, Status};

use super::*;
use crate::quality::tests::{carrier, exchange};

/// The refusals of an import that turns one dataset into the other.
fn refusals(before: &Dataset, after: &Dataset) -> Vec<String> {
    let (old, new) = (Quality::of(before), Quality::of(after));
    let file_dates = FileDates::default();
    let current = MeasuredVersion { file_dates, dataset: before, quality: &old };
    let next = MeasuredVersion { file_dates, dataset: after, quality: &new };
    let refusals = check(Some(&current), &next, &Notes::default(), &Options::default());
    refusals.iter().map(ToString::to_string).collect()
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
fn a_share_that_moves_by_a_few_records_refuses_nothing() {
    assert_eq!(refusals(&exchanges(30, 30), &exchanges(30, 15)), Vec::<String>::new());
    let moved = refusals(&exchanges(60, 60), &exchanges(60, 15)).join("\n");
    assert!(
        moved.contains("the US exchanges with an OCN would fall from 100.0 % to 25.0 %"),
        "{moved}"
    );
    assert!(moved.contains("in 1 area code: 415 from 100.0 % to 25.0 %"), "{moved}");
    assert!(
        moved.contains("45 of 60 US exchanges (75.0 %) would change, more than 5 %: OCN of 45"),
        "{moved}"
    );
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
    let expected = "the carriers that hold exchanges would shrink from 50 to 20";
    assert!(lost[0].starts_with(expected), "{lost:?}");
}

#[test]
fn a_first_overlay_may_fill_the_types_of_all_carriers_and_a_later_one_may_not_change_them() {
    let [ilec, clec] = [CarrierType::Ilec, CarrierType::Clec];
    let filled = refusals(&carriers(60, 60, None), &carriers(60, 60, Some(ilec)));
    assert_eq!(filled, Vec::<String>::new());
    let changed = refusals(&carriers(60, 60, Some(ilec)), &carriers(60, 60, Some(clec)));
    let expected = "60 of 60 carriers (100.0 %) would change, more than 5 %: type of 60; \
                    0000 has type 'ILEC' and would have 'CLEC'";
    assert!(changed[0].starts_with(expected), "{changed:?}");
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
    assert!(shrunk.contains("the records of US would shrink from 300 to 270"), "{shrunk}");
    assert!(!shrunk.contains("415"), "{shrunk}");
    let shrunk = refusals(&exchanges(300, 300), &exchanges(260, 260)).join("\n");
    assert!(shrunk.contains("by more than 10 %: 415 from 300 to 260"), "{shrunk}");
    let vanished = refusals(&exchanges(1, 1), &Dataset::default()).join("\n");
    assert!(vanished.contains("1 area code would lose all exchanges: 415"), "{vanished}");
}

#[test]
fn every_refusal_that_can_be_waived_names_its_option_for_function_and_command_line() {
    let all = [
        refusals(&exchanges(60, 60), &exchanges(60, 15)),
        refusals(&exchanges(300, 300), &exchanges(260, 260)),
        refusals(&exchanges(1, 1), &Dataset::default()),
        refusals(&carriers(60, 60, None), &carriers(60, 20, None)),
    ];
    for refusal in all.concat() {
        let is_named = ["max_shrink (--max-shrink)", "max_change (--max-change)"]
            .iter()
            .any(|option| refusal.contains(option));
        assert!(is_named && refusal.ends_with("to import it anyway"), "{refusal}");
        assert!(!refusal.contains('\n'), "a report counts gates by lines: {refusal}");
    }
}
