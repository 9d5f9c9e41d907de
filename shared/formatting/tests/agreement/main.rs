//! Agreement with Google's libphonenumber, input by input.
//!
//! Agreement is required wherever Google's rules read a valid number, and wherever the service does not.
//! Inputs that only the service reads, without their words or punctuation, are counted apart.
//!
//! Reads the corpus that `TNR_PHONE_CORPUS` names (JSON lines, gzipped), or else the committed
//! selection. `cargo test -p formatting --test agreement -- --nocapture` prints the tables.

// A test ends where it fails.
#![allow(clippy::unwrap_used)]

mod corpus;
mod second_opinion;
mod table;

use std::collections::BTreeSet;

use corpus::{Answer, Case, Exception, cases, exceptions};
use formatting::PhoneNumber;
use table::Table;

/// The result of the service for a case, in the terms of the corpus.
fn our_answer(case: &Case) -> Option<Answer> {
    let number = PhoneNumber::parse(&case.input, case.default_country())?;
    let word = number.number_type.and_then(|number_type| serde_json::to_value(number_type).ok());
    Some(Answer {
        valid: number.valid,
        possible: number.possible,
        region: number.country,
        national_number: number.national_number,
        e164: number.formats.e164,
        national: number.formats.national,
        rfc3966: number.formats.rfc3966,
        number_type: word.and_then(|word| word.as_str().map(str::to_owned)),
        extension: number.extension,
    })
}

/// Whether only the service reads the input, or a valid number in it.
fn is_only_ours(ours: &Option<Answer>, googles: &Option<Answer>) -> bool {
    let Some(ours) = ours else { return false };
    googles.as_ref().is_none_or(|googles| ours.valid && !googles.valid)
}

#[test]
fn every_answer_is_googles_or_a_listed_exception() {
    let (cases, listed) = (cases(), exceptions());
    let mut table = Table::default();
    let (mut disagreements, mut unlisted) = (BTreeSet::new(), Vec::new());
    let mut only_ours = 0;
    for case in &cases {
        let (ours, googles) = (our_answer(case), case.answer());
        only_ours += usize::from(is_only_ours(&ours, &googles));
        let is_apart = is_only_ours(&ours, &googles) || listed.contains(&Exception::of(case));
        table.count(&case.class(), &ours, &googles, is_apart);
        if ours != googles {
            disagreements.insert(Exception::of(case));
            unlisted.extend((!is_apart).then_some(case));
        }
    }
    println!("{table}\n{only_ours} are read by the service only");
    assert!(unlisted.is_empty(), "{} disagree and are not listed: {unlisted:#?}", unlisted.len());
    // Without its punctuation a text may be read, but rubbish must not become a number.
    assert!(only_ours <= cases.len() * 3 / 100, "{only_ours} are read by the service only");
    if corpus::is_whole() {
        let outdated: Vec<_> = listed.difference(&disagreements).collect();
        assert!(outdated.is_empty(), "listed, and yet they agree: {outdated:#?}");
    }
}
