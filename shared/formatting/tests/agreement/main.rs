//! Agreement with Google's libphonenumber, input by input.
//!
//! Agreement is required wherever Google's rules read a valid number, and wherever the service does not. Inputs
//! that only the service reads, by ignoring words or punctuation, are counted separately.
//!
//! Reads the corpus at `TNR_PHONE_CORPUS` (gzipped JSON Lines), by default the committed selection.
//! `cargo test -p formatting --test agreement -- --nocapture` prints the counts.

// Tests may panic.
#![allow(clippy::unwrap_used)]

mod by_prefix;
mod corpus;
mod in_text;

use std::collections::BTreeSet;

use corpus::{Case, Outcome, cases, exceptions};
use formatting::PhoneNumber;
use serde_json::json;

/// The service's result for a case, in the corpus's terms.
fn our_outcome(case: &Case) -> Option<Outcome> {
    let number = PhoneNumber::parse(&case.input.text, case.default_country())?;
    Some([
        number.valid.into(),
        number.possible.into(),
        number.country.into(),
        number.national_number.into(),
        number.formats.e164.into(),
        number.formats.national.into(),
        number.formats.rfc3966.into(),
        json!(number.number_type),
        number.extension.into(),
    ])
}

/// Returns `true` if only the service reads the input, or finds a valid number in it.
fn is_only_ours(ours: &Option<Outcome>, googles: &Option<Outcome>) -> bool {
    let Some([is_valid, ..]) = ours else { return false };
    googles
        .as_ref()
        .is_none_or(|[is_googles_valid, ..]| *is_valid == true && *is_googles_valid == false)
}

#[test]
fn every_result_is_googles_or_a_listed_exception() {
    let (cases, listed) = (cases(), exceptions());
    let (mut disagreements, mut unlisted) = (BTreeSet::new(), Vec::new());
    let (mut agreeing, mut only_ours) = (0, 0);
    for case in &cases {
        let (ours, googles) = (our_outcome(case), case.outcome());
        let is_ours_alone = is_only_ours(&ours, &googles);
        only_ours += usize::from(is_ours_alone);
        agreeing += usize::from(ours == googles);
        if ours != googles {
            disagreements.insert(case.input.clone());
            let is_listed = is_ours_alone || listed.contains(&case.input);
            unlisted.extend((!is_listed).then_some((&case.case, case)));
        }
    }
    println!("{agreeing} of {} agree, {only_ours} are read only by the service", cases.len());
    assert!(unlisted.is_empty(), "{} disagree and are not listed: {unlisted:#?}", unlisted.len());
    // Ignoring punctuation may help, but junk must not become a number.
    assert!(only_ours <= cases.len() * 2 / 100, "{only_ours} are read only by the service");
    if corpus::is_complete() {
        let outdated: Vec<_> = listed.difference(&disagreements).collect();
        assert!(outdated.is_empty(), "listed as exceptions, but they agree: {outdated:#?}");
    }
}
