//! The documentation agrees with the code. `readme` and `endpoint_listings` have more of the README.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::Path,
};

use clap::CommandFactory;
use tnr::{
    commands::Cli,
    openapi,
    operate::costs::{Usage, bill},
};

use crate::support::{
    endpoints::{endpoints, is_part_of_a_page},
    readme,
};

#[test]
fn the_committed_description_is_current() {
    let committed = include_str!("../../../../../docs/openapi.json");
    assert!(
        committed == format!("{:#}\n", openapi::description()),
        "update it with the output of: cargo run -- openapi"
    );
}

#[test]
fn the_readme_price_matches_the_costs() {
    let bill: HashMap<String, f64> = bill(&Usage::month(1e6, 0.01)).into_iter().collect();
    let requests = bill["Total for requests"];
    let fixed = bill["Total"] - requests;
    let price = format!("about ${requests:.0} per million requests plus ${fixed:.0} a month");
    assert!(
        include_str!("../../../../../README.md").contains(&price),
        "README.md must say '{price}'"
    );
}

/// Catches an endpoint that is declared public by mistake.
#[test]
fn public_endpoints_match_the_readme() {
    let endpoints = endpoints().into_iter().filter(|endpoint| !endpoint.needs_key());
    let paths = endpoints.map(|endpoint| endpoint.path).filter(|path| !is_part_of_a_page(path));
    let public: BTreeSet<String> = paths.map(|path| path.replace("+}", "}")).collect();
    let rows = readme::rows().into_iter().filter(|row| !row.needs_key);
    let documented: BTreeSet<String> = rows.flat_map(|row| row.paths).collect();
    assert_eq!(public, documented);
}

#[test]
fn the_docs_list_every_server_variable_and_option() {
    let document = include_str!("../../../../../docs/SELF-HOSTING.md");
    let serve = Cli::command().find_subcommand("serve").unwrap().clone();
    for option in serve.get_arguments() {
        let Some(long) = option.get_long().filter(|long| !["help", "key"].contains(long)) else {
            continue;
        };
        assert!(document.contains(&format!("`--{long}`")), "--{long}");
        if let Some(variable) = option.get_env().and_then(|variable| variable.to_str()) {
            assert!(document.contains(&format!("`{variable}`")), "{variable}");
        }
    }
}

#[test]
fn every_dependency_has_a_documented_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let reasons = fs::read_to_string(root.join("docs/DEPENDENCIES.md")).unwrap();
    let is_explained = |name: &str| {
        reasons.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{name}`")))
    };
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        let is_ours = dependency.get("path").is_some();
        assert!(is_ours || is_explained(name), "docs/DEPENDENCIES.md has no reason for {name}");
    }
}
