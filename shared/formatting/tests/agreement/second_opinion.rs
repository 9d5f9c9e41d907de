//! Parses the same inputs with the `phonenumber` crate. `rlibphonenumber` was chosen by this
//! comparison (docs/decisions/0001-rlibphonenumber.md).

use std::panic::catch_unwind;

use phonenumber::{Mode, Type, country::Id};

use super::{
    corpus::{Answer, Case, cases},
    is_only_ours, our_answer,
    table::Table,
};

fn their_answer(case: &Case) -> Option<Answer> {
    let region: Option<Id> = case.default_region.as_deref().and_then(|region| region.parse().ok());
    let number = phonenumber::parse(region, &case.input).ok()?;
    let format = |mode| number.format().mode(mode).to_string();
    let database = &phonenumber::metadata::DATABASE;
    let word = match number.number_type(database) {
        Type::FixedLine => "FIXED_LINE",
        Type::Mobile => "MOBILE",
        Type::FixedLineOrMobile => "FIXED_LINE_OR_MOBILE",
        Type::TollFree => "TOLL_FREE",
        Type::PremiumRate => "PREMIUM_RATE",
        Type::SharedCost => "SHARED_COST",
        Type::PersonalNumber => "PERSONAL_NUMBER",
        Type::Voip => "VOIP",
        Type::Pager => "PAGER",
        Type::Uan => "UAN",
        Type::Voicemail => "VOICEMAIL",
        _ => "",
    };
    Some(Answer {
        valid: number.is_valid(),
        // The crate has no such check, so validity stands in for it.
        possible: number.is_valid(),
        region: number.country().id().map(|id| id.as_ref().to_owned()),
        national_number: number.national().to_string(),
        e164: format(Mode::E164),
        national: format(Mode::National),
        rfc3966: format(Mode::Rfc3966),
        number_type: Some(word.to_owned()).filter(|word| !word.is_empty()),
        extension: number.extension().map(ToString::to_string),
    })
}

#[test]
fn no_field_is_answered_better_by_the_phonenumber_crate() {
    let (mut our_table, mut their_table) = (Table::default(), Table::default());
    // The crate is slow for calling codes of many countries, and some thousand inputs are enough.
    let cases = cases();
    for case in cases.iter().step_by((cases.len() / 4000).max(1)) {
        let (ours, googles) = (our_answer(case), case.answer());
        if is_only_ours(&ours, &googles) {
            continue;
        }
        our_table.count(&case.class(), &ours, &googles, false);
        let answer = catch_unwind(|| their_answer(case)).ok().flatten();
        their_table.count(&case.class(), &answer, &googles, false);
    }
    println!("phonenumber:\n{their_table}");
    for (ours, theirs) in our_table.shares().into_iter().zip(their_table.shares()) {
        assert!(ours >= theirs, "{ours} % against {theirs} %");
    }
}
