//! Tests every kind of number, with the fields that the rules determine.

use std::fmt::Write;

use formatting::{DefaultCountry, Languages, PhoneNumber};
use jiff::Timestamp;
use numbering::dataset::Dataset;
use serde_json::json;

use crate::{
    FormatResult,
    assemble::Assembler,
    fields::{Fields, WithFields},
    include::Include,
};

/// The records in `records.json`.
pub fn all_kinds() -> Dataset {
    Dataset::from_json(include_str!("records.json")).unwrap()
}

#[test]
fn every_kind_of_number_has_the_expected_fields() {
    let all = Fields::from_type::<FormatResult>();
    let (mut fields, mut now) = (None, Timestamp::UNIX_EPOCH);
    let mut dataset = Some(all_kinds());
    let mut results = String::new();
    for line in include_str!("results.txt").lines().skip_while(|line| !line.is_empty()) {
        if line.starts_with("## ") || line.starts_with("> ") || line.is_empty() {
            writeln!(results, "{line}").unwrap();
            dataset = dataset.filter(|_| line != "## without data");
            if let Some((names, time)) = line.strip_prefix("> ").and_then(|it| it.split_once(' ')) {
                (fields, now) = (all.select(names).unwrap(), time.parse().unwrap());
            }
            continue;
        }
        let (country, text) = line.split_once("| ").unwrap_or(("US", line));
        let country: DefaultCountry = country.parse().unwrap();
        let include = &Include::from_fields(fields.as_ref().unwrap());
        let (languages, flags_base_url) = (&Languages::default(), Some("https://a.example"));
        let assembler = Assembler { include, languages, flags_base_url, now, countries: &[] };
        let number = PhoneNumber::parse(text, country);
        let value = assembler.describe(text, country, number, dataset.as_ref());
        let result = json!(WithFields { value, fields: fields.as_ref() });
        writeln!(results, "{line}\n  {result}").unwrap();
    }
    insta::assert_snapshot!(results);
}
