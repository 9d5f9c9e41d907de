//! docs/openapi.json and docs/openapi-3.0.json are what the routes say they are.

use tnr::openapi;

#[test]
fn the_committed_descriptions_are_current() {
    for (committed, current, command) in [
        (
            include_str!("../../../../../docs/openapi.json"),
            openapi::description(),
            "cargo run -- openapi > docs/openapi.json",
        ),
        (
            include_str!("../../../../../docs/openapi-3.0.json"),
            openapi::description_3_0(),
            "cargo run -- openapi --version 3.0 > docs/openapi-3.0.json",
        ),
    ] {
        assert!(committed.trim_end() == format!("{current:#}"), "renew it: {command}");
    }
}
