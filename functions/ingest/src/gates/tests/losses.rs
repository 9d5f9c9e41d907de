//! The gate that checks the losses of states, carriers and area codes.

use super::*;

#[test]
fn area_code_may_not_disappear_or_lose_over_a_tenth() {
    let shrunk = refusals(&exchanges(300, 300), &exchanges(270, 270));
    assert!(shrunk.contains("removal (30); 415-470 would be removed"), "{shrunk}");
    assert!(!shrunk.contains("area code would"), "{shrunk}");
    let shrunk = refusals(&exchanges(300, 300), &exchanges(260, 260));
    assert!(shrunk.contains("1 area code would lose or change"), "{shrunk}");
    assert!(shrunk.contains(": 415 40 of 300; check"), "{shrunk}");
    let vanished = refusals(&exchanges(1, 1), &Dataset::default());
    assert!(vanished.contains(": 415 1 of 1; check"), "{vanished}");
}

#[test]
fn area_code_may_lose_19_exchanges_and_a_refusal_names_five() {
    let version = |area_codes: usize, lost: usize| {
        let exchanges = (0..area_codes).flat_map(|area_code| {
            let nxx = (200..300).skip(lost);
            nxx.map(move |nxx| format!("{}-{nxx}", 201 + area_code))
        });
        only_exchanges(exchanges.map(|code| exchange(&code, None, "SNFC", Status::Assigned)))
    };
    let losses = |area_codes, lost| {
        let refusals = refusals(&version(area_codes, 0), &version(area_codes, lost));
        let line = refusals.lines().find(|line| line.contains("area code")).unwrap_or_default();
        line.split("; check").next().unwrap().to_owned()
    };
    assert_eq!(losses(1, 19), "");
    assert!(losses(1, 20).ends_with(": 201 20 of 100"), "{}", losses(1, 20));
    let named = "201 20 of 100; 202 20 of 100; 203 20 of 100; 204 20 of 100; 205 20 of 100";
    assert!(losses(5, 20).starts_with("5 area codes would lose"), "{}", losses(5, 20));
    assert!(losses(5, 20).ends_with(&format!(": {named}")), "{}", losses(5, 20));
    assert!(losses(7, 20).ends_with(&format!(": {named} and 2 more")), "{}", losses(7, 20));
}

#[test]
fn refusal_names_the_state_or_carrier_that_loses_500_exchanges() {
    let losses = |per_state, moved, sold| {
        let original = states_and_carriers(per_state, 0, 0);
        let refusals = refusals(&original, &states_and_carriers(per_state, moved, sold));
        let lines =
            refusals.lines().filter(|line| line.contains("1 state") || line.contains("1 carrier"));
        let named = lines.map(|line| line.split([':', ';']).nth(1).unwrap().trim().to_owned());
        named.collect::<Vec<_>>()
    };
    for (per_state, moved, sold, expected) in [
        (1000, 1000, 0, "AK 1000 of 1000 (1000 to CA)"),
        (1000, 0, 1250, "0000 1250 of 1250 (1250 to 0007)"),
        (500, 500, 0, "AK 500 of 500 (500 to CA)"),
    ] {
        assert_eq!(losses(per_state, moved, sold), [expected]);
    }
    let none = Vec::<String>::new();
    assert_eq!(losses(1000, 100, 625), none, "a tenth of a state, and half of a carrier");
    assert_eq!(losses(499, 499, 0), none, "a small state");
}
