//! Checks that every flag a response may link to exists and is safe to serve.

use std::{collections::BTreeSet, fs};

use flags::{FlagKind, Image, images, urls};
use formatting::country_name;
use roxmltree::Document;
use sha2::{Digest, Sha256};

/// The ISO 3166-1 countries, and those that only Google's metadata lists.
fn countries() -> impl Iterator<Item = &'static str> {
    rust_iso3166::ALL_ALPHA2.iter().copied().chain(["AC", "TA", "XK"])
}

/// The postal codes of US states, DC and territories.
fn states() -> impl Iterator<Item = &'static str> {
    let subdivisions = rust_iso3166::US.subdivisions().into_iter().flatten();
    // The Minor Outlying Islands are uninhabited, so they have no phone numbers.
    let inhabited = subdivisions.filter(|subdivision| subdivision.code != "US-UM");
    inhabited.map(|subdivision| subdivision.code.trim_start_matches("US-"))
}

#[test]
fn countries_and_us_states_have_a_flag_in_every_format() {
    assert!(countries().all(|code| country_name(code).is_some_and(|name| !name.is_empty())));
    let subjects = countries()
        .map(|code| (FlagKind::Country, code))
        .chain(states().map(|code| (FlagKind::State, code)));
    let expected: BTreeSet<String> = subjects
        .flat_map(|(subject, code)| urls("", subject, code).map(|url| url[1..].to_owned()))
        .collect();
    let found: BTreeSet<String> = images().map(|(path, _)| path).collect();
    assert_eq!(found, expected);
    assert_eq!(expected.len(), (252 + 56) * 4);
}

#[test]
fn svgs_contain_no_scripts_or_external_references() {
    for (path, Image { media_type, bytes }) in images().filter(|(path, _)| path.ends_with(".svg")) {
        assert_eq!(media_type, "image/svg+xml", "{path}");
        let document = Document::parse(str::from_utf8(&bytes).unwrap()).unwrap();
        let root = document.root_element();
        assert!(root.has_tag_name(("http://www.w3.org/2000/svg", "svg")), "{path}");
        for element in document.descendants().filter(roxmltree::Node::is_element) {
            let name = element.tag_name().name();
            let is_allowed =
                !["script", "style", "text", "image", "foreignObject", "a"].contains(&name);
            assert!(is_allowed, "{path}: {name}");
            for attribute in element.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                let is_external = (name == "href" && !value.starts_with('#'))
                    || value.replace("url(#", "").contains("url(");
                assert!(!name.starts_with("on") && !is_external, "{path}: {name}={value}");
            }
        }
    }
}

#[test]
fn the_version_is_a_prefix_of_the_archive_hash() {
    let archive = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/src/images.zip")).unwrap();
    let hash = Sha256::digest(archive);
    let prefix: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(flags::VERSION, prefix, "run .ci/flags/draw.mjs again");
}
