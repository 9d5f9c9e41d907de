//! Numbers found in texts, compared with those that Google's own implementation finds.
//!
//! The texts are random numbers from the corpus between words, dates and amounts.

use formatting::{DefaultCountry, Leniency, NumberInText, find_numbers};
use serde::Deserialize;

use crate::corpus::answers;

/// A text with the numbers that Google finds.
#[derive(Debug, Deserialize)]
struct Case {
    text: String,
    country: String,
    leniency: String,
    numbers: Vec<Found>,
}

/// The start and end in code points, the number in E.164, and its extension.
type Found = (usize, usize, String, String);

fn find(Case { text, country, leniency, .. }: &Case) -> Vec<Found> {
    let country: DefaultCountry = country.parse().unwrap();
    let leniency: Leniency = leniency.parse().unwrap();
    let numbers = find_numbers(text, country, leniency).map(|found| {
        let NumberInText { range, number } = found.unwrap();
        let position = |byte: usize| text[..byte].chars().count();
        let extension = number.extension.unwrap_or_default();
        (position(range.start), position(range.end), number.formats.e164, extension)
    });
    numbers.collect()
}

/// decisions/0020 explains the differences.
#[test]
fn nearly_every_text_has_googles_numbers() {
    let answers = answers("texts.jsonl", include_str!("texts.jsonl"));
    let cases: Vec<Case> = answers.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let different: Vec<_> = cases
        .iter()
        .map(|case| (case, find(case)))
        .filter(|(case, found)| *found != case.numbers)
        .collect();
    println!("{different:#?}\n{} of {} texts differ from Google's", different.len(), cases.len());
    assert!(different.len() * 500 <= cases.len(), "{different:#?}");
    assert!(cases.iter().map(|case| case.numbers.len()).sum::<usize>() > cases.len() / 2);
}
