//! Documentation checks.

use std::{fs, path::Path};

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
