//! Snapshot test of the result for every kind of number, with and without numbering data.

use std::fmt::Write;

use formatting::{DefaultCountry, Languages, PhoneNumber};
use jiff::{Timestamp, civil::date};
use numbering::{
    dataset::Dataset,
    ranges::{CountryRanges, Range, RangeFacts},
    records::Version,
};
use serde_json::json;
use store::{CountryData, LoadedCountry, Piece};

use crate::{
    FormatResult,
    assemble::Assembler,
    fields::{Fields, WithFields},
    include::Include,
};

/// A regulator's data about British numbers that start with 2 or 7.
pub fn britain() -> LoadedCountry {
    let ranges = include_str!("ranges.txt").lines().map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [from, to, range_use, status, holder, date, place] = cells[..] else {
            panic!("{line}")
        };
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let facts = RangeFacts {
            range_use: range_use.parse().unwrap(),
            status: text(status),
            holder: text(holder),
            effective_from: text(date).map(|date| date.parse().unwrap()),
            place: text(place),
        };
        Range { from: from.parse().unwrap(), to: to.parse().unwrap(), facts }
    });
    let ranges = CountryRanges::new(vec!["2".to_owned(), "7".to_owned()], ranges.collect());
    let mut data = CountryData::sample(Piece::new(Version::new(Timestamp::UNIX_EPOCH), b""));
    data.imported.date = Some(date(2026, 6, 1));
    data.calling_codes.push(350);
    data.place_calling_codes.insert("London".to_owned(), 44);
    LoadedCountry::new("GB".to_owned(), data, ranges)
}

/// The records in `records.json`.
pub fn all_kinds() -> Dataset {
    Dataset::from_json(include_str!("records.json")).unwrap()
}

#[test]
fn every_kind_of_number_has_the_expected_fields() {
    let all = Fields::from_type::<FormatResult>();
    let (mut fields, mut now) = (None, Timestamp::UNIX_EPOCH);
    let mut countries = vec![britain()];
    let mut dataset = Some(all_kinds());
    let mut results = String::new();
    for line in include_str!("results.txt").lines().skip_while(|line| !line.is_empty()) {
        if line.starts_with("## ") || line.starts_with("> ") || line.is_empty() {
            writeln!(results, "{line}").unwrap();
            dataset = dataset.filter(|_| line != "## without data");
            countries.retain(|_| line != "## without data");
            if let Some((names, time)) = line.strip_prefix("> ").and_then(|it| it.split_once(' ')) {
                (fields, now) = (all.select(names).unwrap(), time.parse().unwrap());
            }
            continue;
        }
        let (country, text) = line.split_once("| ").unwrap_or(("US", line));
        let country: DefaultCountry = country.parse().unwrap();
        let include = &Include::from_fields(fields.as_ref().unwrap());
        let (languages, flags_base_url) = (&Languages::default(), Some("https://a.example"));
        let assembler =
            Assembler { include, languages, flags_base_url, now, countries: &countries };
        let number = PhoneNumber::parse(text, country);
        let value = assembler.describe(text, country, number, dataset.as_ref());
        let result = json!(WithFields { value, fields: fields.as_ref() });
        writeln!(results, "{line}\n  {result}").unwrap();
    }
    insta::assert_snapshot!(results);
}
