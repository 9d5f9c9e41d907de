//! docs/openapi.json is what the routes say it is.

#[test]
fn the_committed_description_is_current() {
    let committed = include_str!("../../../../../docs/openapi.json");
    let current = tnr::commands::openapi::description().to_pretty_json().unwrap();
    assert!(committed.trim_end() == current, "renew it: cargo run -- openapi > docs/openapi.json");
}
