//! Phone numbers worldwide.

use serde_json::Value;

/// Numbers from every region in every notation, for comparing with Google's rules, each with its default country.
pub fn numbers_worldwide() -> Vec<(String, String)> {
    const FOLDER: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/formatting/tests/agreement");
    let read = |file: &str| std::fs::read_to_string(format!("{FOLDER}/{file}")).unwrap();
    let regions = read("one_of_each_region.txt");
    let regions = regions.lines().map(|tn| (tn.to_owned(), "US".to_owned()));
    let selection = read("selection.jsonl");
    let selection = selection.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let country = row["default_region"].as_str().unwrap_or("US");
        (row["input"].as_str().unwrap().to_owned(), country.to_owned())
    });
    // An empty number counts as missing.
    regions.chain(selection).filter(|(tn, _)| !tn.is_empty()).collect()
}
