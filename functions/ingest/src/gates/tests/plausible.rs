//! The gates that check a single version.

use super::*;
use crate::notes::SEVERAL_NAMES;

/// The first part of each refusal.
fn refused_with(dataset: &Dataset, notes: &Notes) -> Vec<String> {
    let reasons = reasons_alone(dataset, notes, false).into_iter().map(|refusal| refusal.reason);
    reasons.map(|reason| reason.split([':', ',']).next().unwrap().to_owned()).collect()
}

fn refused(dataset: &Dataset) -> Vec<String> {
    refused_with(dataset, &Notes::default())
}

#[test]
fn only_countries_with_1000_records_are_checked_for_uniform_values() {
    // No company or OCN, and a single state, rate center and status.
    let blank_and_uniform = |count| {
        let exchange = |n| exchange(&npa_nxx(n), None, "SNFC", Status::Assigned);
        refused(&only_exchanges((0..count).map(exchange))).len()
    };
    assert_eq!([999, 1000].map(blank_and_uniform), [0, 5]);
}

#[test]
fn twenty_unknown_values_in_over_one_percent_of_the_rows_are_refused() {
    let count = |values, rows| {
        let mut notes = Notes::default();
        let findings = notes.in_report(ReportName::Cnac);
        findings.rows = rows;
        let unknown = findings.unknown_values.entry("Status").or_default();
        (0..values).for_each(|_| unknown.count("'ZZ'"));
        refused_with(&Dataset::default(), &notes).len()
    };
    assert_eq!([count(19, 100), count(20, 100), count(20, 2000)], [0, 1, 0]);
}

#[test]
fn twenty_ocns_with_several_names_in_over_a_quarter_of_the_carriers_are_refused() {
    let refused = |several_names, with_exchanges| {
        let mut notes = Notes::default();
        (0..several_names).for_each(|n| notes.warn(SEVERAL_NAMES, n));
        refused_with(&carriers(1000, with_exchanges, "A", None), &notes).concat()
    };
    // Carriers without exchanges have no names to compare.
    assert_eq!([refused(19, 20), refused(20, 80), refused(30, 120)], [""; 3]);
    assert!(refused(20, 79).starts_with("20 of 79 carriers (25.3%) have several"));
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

/// A change to an exchange.
type Change = fn(&mut Exchange);

#[test]
fn columns_may_be_blank_or_the_same_in_nine_of_ten_records_and_nearly_always_have_the_same_status()
{
    let blank = |what: &str| format!("only 99 of 1000 US exchanges {what}");
    let same = |percent: &str, what: &str| {
        format!("{percent}% of 1000 US records would have the same {what}")
    };
    let cases: [(Change, usize, Vec<String>); 7] = [
        (
            |it| (it.ocn, it.company_name) = (None, None),
            900,
            vec![blank("with a company name"), blank("with an OCN")],
        ),
        (|it| it.state = None, 900, vec![blank("with a state or province")]),
        (|it| it.rate_center = None, 900, vec![blank("with a rate center")]),
        (
            |it| it.ocn = Some("0008".parse().unwrap()),
            900,
            vec![same("90.1", "company name"), same("90.1", "OCN")],
        ),
        (|it| it.state = Some("WY".parse().unwrap()), 900, vec![same("90.1", "state or province")]),
        (|it| it.rate_center = Some("SAME".to_owned()), 900, vec![same("90.1", "rate center")]),
        // One in three of the others is also assigned.
        (|it| it.status = Status::Assigned, 992, vec![same("99.6", "status")]),
    ];
    for (change, most, expected) in cases {
        let changed_in = |count| {
            refused(&varied(|n, it| {
                if n < count {
                    change(it);
                }
            }))
        };
        assert_eq!(changed_in(most), [""; 0], "{expected:?}");
        assert_eq!(changed_in(most + 1), expected);
    }
}
