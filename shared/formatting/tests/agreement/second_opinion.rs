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
    let region: Option<Id> = case.input.default_region.as_ref().and_then(|it| it.parse().ok());
    let number = phonenumber::parse(region, &case.input.text).ok()?;
    let format = |mode| number.format().mode(mode).to_string();
    let database = &phonenumber::metadata::DATABASE;
    let number_type = match number.number_type(database) {
        Type::FixedLine => Some("FIXED_LINE"),
        Type::Mobile => Some("MOBILE"),
        Type::FixedLineOrMobile => Some("FIXED_LINE_OR_MOBILE"),
        Type::TollFree => Some("TOLL_FREE"),
        Type::PremiumRate => Some("PREMIUM_RATE"),
        Type::SharedCost => Some("SHARED_COST"),
        Type::PersonalNumber => Some("PERSONAL_NUMBER"),
        Type::Voip => Some("VOIP"),
        Type::Pager => Some("PAGER"),
        Type::Uan => Some("UAN"),
        Type::Voicemail => Some("VOICEMAIL"),
        _ => None,
    };
    Some([
        number.is_valid().into(),
        // The crate has no such check, so validity replaces it.
        number.is_valid().into(),
        number.country().id().map(|id| id.as_ref().to_owned()).into(),
        number.national().to_string().into(),
        format(Mode::E164).into(),
        format(Mode::National).into(),
        format(Mode::Rfc3966).into(),
        number_type.into(),
        number.extension().map(ToString::to_string).into(),
    ])
}

#[test]
fn the_phonenumber_crate_is_not_better_at_any_field() {
    let (mut our_table, mut their_table) = (Table::default(), Table::default());
    // The crate is slow for calling codes shared by many countries, and a few thousand inputs are enough.
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
