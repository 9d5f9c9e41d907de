//! The gates that check a single version.

use super::*;
use crate::outcome::SEVERAL_NAMES;

#[test]
fn only_countries_with_1000_records_are_checked_for_uniform_values() {
    let blank_and_uniform = |count| {
        let exchanges = (0..count).map(|n| exchange(&npa_nxx(n), None, "SNFC", Status::Assigned));
        let dataset = Dataset::new(Vec::new(), Vec::new(), exchanges.collect());
        let next = snapshot(0);
        run_gates(&[], measured(&next, &dataset), &Quality::new(&dataset), &Notes::default(), false)
            .len()
    };
    // No company or OCN, and a single state, rate center and status.
    assert_eq!([999, 1000].map(blank_and_uniform), [0, 5]);
}

#[test]
fn twenty_unknown_values_in_over_one_percent_of_the_rows_are_refused() {
    let count = |values, rows| {
        let mut notes = Notes::default();
        notes.count_rows("a report", rows);
        (0..values).for_each(|_| notes.warn_unknown_value("a report", "Use", "is unknown", "'ZZ'"));
        let (snapshot, dataset) = (snapshot(0), Dataset::default());
        run_gates(&[], measured(&snapshot, &dataset), &Quality::default(), &notes, false).len()
    };
    assert_eq!([count(19, 100), count(20, 100), count(20, 2000)], [0, 1, 0]);
}

#[test]
fn twenty_ocns_with_several_names_in_over_a_quarter_of_the_carriers_are_refused() {
    let refused = |several_names, with_exchanges| {
        let mut notes = Notes::default();
        (0..several_names).for_each(|n| notes.warn(SEVERAL_NAMES, n));
        let (snapshot, dataset) = (snapshot(0), carriers(1000, with_exchanges, None));
        let next = measured(&snapshot, &dataset);
        let refusals = run_gates(&[], next, &Quality::default(), &notes, false);
        refusals.into_iter().map(|refusal| refusal.reason).collect::<String>()
    };
    // Carriers without exchanges have no names to compare.
    assert_eq!([refused(19, 20), refused(20, 80), refused(30, 120)], [""; 3]);
    let reason = refused(20, 79);
    assert!(reason.starts_with("20 of 79 carriers (25.3%) have several"), "{reason}");
}

/// A thousand exchanges with as many values in each column as possible, each changed by `change`.
fn varied(change: impl Fn(usize, &mut Exchange)) -> Dataset {
    const STATES: [&str; 4] = ["AK", "CA", "FL", "HI"];
    let exchanges = (0..1000).map(|n| {
        let (ocn, rate_center) = (format!("000{}", n % 8), format!("PLACE {}", n % 7));
        let mut varied = Exchange {
            state: Some(STATES[n % 4].parse().unwrap()),
            ..exchange(&npa_nxx(n), Some(&ocn), &rate_center, Status::ALL[n % 3])
        };
        change(n, &mut varied);
        varied
    });
    let carriers = (0..9).map(|n| carrier(&format!("000{n}"), &format!("Company {n}"), 1));
    Dataset::new(carriers.collect(), Vec::new(), exchanges.collect())
}

/// The first part of each refusal.
fn refused(dataset: &Dataset) -> Vec<String> {
    let next = snapshot(0);
    let quality = Quality::new(dataset);
    let refusals = run_gates(&[], measured(&next, dataset), &quality, &Notes::default(), false);
    let reasons = refusals.into_iter().map(|refusal| refusal.reason);
    reasons.map(|reason| reason.split([':', ',']).next().unwrap().to_owned()).collect()
}

/// A change to an exchange.
type Change = fn(&mut Exchange);

#[test]
fn columns_may_be_blank_in_nine_of_ten_records() {
    let without_holder: Change = |it| (it.ocn, it.company_name) = (None, None);
    for (blank, expected) in [
        (without_holder, &["with a company name", "with an OCN"][..]),
        (|it: &mut Exchange| it.state = None, &["with a state or province"]),
        (|it: &mut Exchange| it.rate_center = None, &["with a rate center"]),
    ] {
        let blank_in = |count| {
            refused(&varied(|n, it| {
                if n < count {
                    blank(it);
                }
            }))
        };
        assert_eq!(blank_in(900), [""; 0]);
        let expected = expected.iter().map(|what| format!("only 99 of 1000 US exchanges {what}"));
        assert_eq!(blank_in(901), expected.collect::<Vec<_>>());
    }
}

#[test]
fn columns_may_have_the_same_value_in_nine_of_ten_records_and_nearly_always_the_same_status() {
    let uniform = |change: Change, count: usize| {
        refused(&varied(|n, it| {
            if n < count {
                change(it);
            }
        }))
    };
    let cases: [(Change, usize, &[&str]); 4] = [
        (|it| it.ocn = Some("0008".parse().unwrap()), 900, &["90.1% company name", "90.1% OCN"]),
        (|it| it.state = Some("WY".parse().unwrap()), 900, &["90.1% state or province"]),
        (|it| it.rate_center = Some("SAME".to_owned()), 900, &["90.1% rate center"]),
        // One in three of the others is also assigned.
        (|it| it.status = Status::Assigned, 992, &["99.6% status"]),
    ];
    for (change, most, expected) in cases {
        assert_eq!(uniform(change, most), [""; 0], "{expected:?}");
        let reasons = uniform(change, most + 1);
        let what =
            reasons.iter().map(|it| it.replace("of 1000 US records would have the same ", ""));
        assert_eq!(what.collect::<Vec<_>>(), expected);
    }
}
