mod full_scale;

use std::collections::BTreeSet;

use super::*;

fn describe(name: &str, ocn: &str) -> String {
    let CompanyFacts { carrier_type, line_type, common_name } = find(name, ocn.parse().unwrap());
    let (carrier_type, basis) = carrier_type.unzip();
    let facts = [
        carrier_type.map(|it| it.to_string()),
        basis.map(|it| it.to_string()),
        line_type.map(|it| it.to_string()),
        common_name.map(str::to_owned),
    ];
    facts.map(|fact| fact.unwrap_or_else(|| "-".to_owned())).join(" ")
}

#[test]
fn types_and_everyday_names_are_derived_from_company_names() {
    let cases = include_str!("tests/cases.txt").lines().filter(|line| !line.starts_with('#'));
    for case in cases {
        let [name, ocn, expected] = case.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{case}")
        };
        assert_eq!(describe(name, ocn), expected, "{case}");
    }
}

#[test]
fn rows_are_sorted_and_unique_and_have_reasons() {
    let keys: Vec<_> = rows(FAMILIES).map(|row| (folded_words(&row.words), row.ocn)).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    assert!(TABLES.name_words.iter().all(|(_, rule)| rule.carrier_type.is_some()));
    for table in [FAMILIES, NAME_WORDS] {
        for row in csv::Reader::from_reader(table.as_bytes()).records() {
            let row = row.unwrap();
            let (words, reason) = (&row[0], &row[row.len() - 1]);
            assert!(!folded_words(words).is_empty() && reason.contains(' '), "{row:?}");
        }
    }
}
