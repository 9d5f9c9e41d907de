//! The opening of the README: what it shows is what the service answers and costs.

use serde_json::Value;

use crate::support::service::shared_service;

const README: &str = include_str!("../../../../../README.md");
const COSTS: &str = include_str!("../../../../../docs/COSTS.md");

/// The first block of code in this language.
fn first_block(language: &str) -> &'static str {
    let (_, block) = README.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

#[tokio::test]
async fn the_answer_that_the_readme_shows_is_that_of_the_service() {
    let (_, path) = first_block("sh").trim().split_once("http://127.0.0.1:3000").unwrap();
    let mut answer = shared_service().ok(path).await;
    // The README says that it leaves them out.
    assert!(answer.as_object_mut().unwrap().shift_remove("flags").is_some());
    let shown: Value = serde_json::from_str(first_block("json")).unwrap();
    assert_eq!(shown.to_string(), answer.to_string(), "also the order of the fields");
}

/// The dollars of a million requests in a row of the first table of the costs.
fn dollars(row: &str) -> f64 {
    let row = COSTS.lines().find(|line| line.starts_with(&format!("| **{row}** |"))).unwrap();
    row.split('|').nth(2).unwrap().trim().trim_matches('*').parse().unwrap()
}

#[test]
fn the_price_that_the_readme_names_is_that_of_the_costs() {
    let requests = dollars("Requests together");
    let fixed = dollars("Together") - requests;
    let price = format!("about ${requests:.0} for a million requests and ${fixed:.0} a month");
    assert!(README.contains(&price), "README.md must say '{price}'");
}
