//! Tests the gates that check a single version.

use super::*;
use crate::notes::CONFLICTING_NAMES;

/// Notes about unknown values in a column, and about OCNs with several names.
fn notes(unknown_values: u32, rows: u32, several_names: u32) -> Notes {
    let mut notes = Notes::default();
    let findings = notes.findings_mut(ReportName::Cnac);
    findings.rows = rows;
    let unknown = findings.unknown_values.entry("Status").or_default();
    (0..unknown_values).for_each(|_| unknown.count("'ZZ'"));
    (0..several_names).for_each(|n| notes.warn(CONFLICTING_NAMES, n));
    notes
}

/// A thousand exchanges with as many values in each column as possible. `change` is applied to the first `count`.
fn varied(count: usize, change: Change) -> Dataset {
    const STATES: [&str; 4] = ["AK", "CA", "FL", "HI"];
    let exchanges = (0..1000).map(|n| {
        let (ocn, rate_center) = (format!("000{}", n % 8), format!("PLACE {}", n % 7));
        let mut varied = Exchange {
            state: Some(STATES[n % 4].parse().unwrap()),
            ..exchange(&npa_nxx(n), Some(&ocn), &rate_center, Status::ALL[n % 3])
        };
        if n < count {
            change(&mut varied);
        }
        varied
    });
    let carriers = (0..9).map(|n| carrier(&format!("000{n}"), &format!("Company {n}"), 1));
    Dataset::new(carriers.collect(), Vec::new(), exchanges.collect())
}

type Change = fn(&mut Exchange);

/// Tests each case at its limit, then beyond it.
#[test]
fn unknown_blank_and_uniform_values_are_refused_above_their_limits() {
    let none = Dataset::default;
    let uniform = |count| {
        let exchange = |n| exchange(&npa_nxx(n), None, "SNFC", Status::Assigned);
        only_exchanges((0..count).map(exchange))
    };
    let holding = |with_exchanges| carriers(1000, with_exchanges, "A", None);
    let mut cases = vec![
        ("records", uniform(999), notes(0, 0, 0), uniform(1000), notes(0, 0, 0)),
        ("unknown values", none(), notes(19, 100, 0), none(), notes(20, 100, 0)),
        ("unknown values of rows", none(), notes(20, 2000, 0), none(), notes(20, 1999, 0)),
        ("several names", holding(20), notes(0, 0, 19), holding(20), notes(0, 0, 20)),
        // Carriers without exchanges have no names to compare.
        ("several names of carriers", holding(80), notes(0, 0, 20), holding(79), notes(0, 0, 20)),
    ];
    let changes: [(&str, Change, usize); 7] = [
        ("no company", |it| (it.ocn, it.company_name) = (None, None), 900),
        ("no state", |it| it.state = None, 900),
        ("no rate center", |it| it.rate_center = None, 900),
        ("one company", |it| it.ocn = Some("0008".parse().unwrap()), 900),
        ("one state", |it| it.state = Some("WY".parse().unwrap()), 900),
        ("one rate center", |it| it.rate_center = Some("SAME".to_owned()), 900),
        // One in three of the others is also assigned.
        ("one status", |it| it.status = Status::Assigned, 992),
    ];
    for (title, change, most) in changes {
        let [at, beyond] = [most, most + 1].map(|count| varied(count, change));
        cases.push((title, at, notes(0, 0, 0), beyond, notes(0, 0, 0)));
    }
    let mut text = String::new();
    for (title, at, notes_at, beyond, notes_beyond) in cases {
        assert_eq!(reasons_alone(&at, &notes_at, false), [""; 0], "{title}");
        let reasons = reasons_alone(&beyond, &notes_beyond, false);
        text += &format!("= {title}\n{}\n", reasons.join("\n"));
    }
    insta::assert_snapshot!(text);
}
