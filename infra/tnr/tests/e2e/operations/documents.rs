//! Tests that the README, the template and the watch router have every route and function. The sessions `site` and
//! `costs` compare other documents with the program.

use std::{collections::BTreeSet, fs, path::Path};

use matchit::Router;

use crate::support::{
    endpoints::{Endpoint, endpoints, undocumented_paths},
    template::{self, DEFAULT_ROUTE, Route},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const README: &str = include_str!("../../../../../README.md");
const MANIFEST: &str = include_str!("../../../../../Cargo.toml");

/// The methods that can start a row in the README's table of requests.
const METHODS: [&str; 2] = ["GET ", "POST "];

/// The documented paths and whether each needs a key. Includes paths for queries, such as `/v1/npa` as well as
/// `/v1/npa/{npa}`.
fn documented_paths() -> BTreeSet<(String, bool)> {
    let is_request = |line: &&str| METHODS.iter().any(|it| line.starts_with(&format!("| `{it}")));
    let rows = README.lines().filter(is_request);
    rows.flat_map(|row| paths(row).into_iter().map(|path| (path, !row.contains("without a key"))))
        .collect()
}

/// The paths in the first cell of a row. For example, `` `GET /v1/npa/{npa}` or `?npa=` `` has two.
fn paths(row: &str) -> Vec<String> {
    let cell = row.split(" | ").next().unwrap();
    let mut paths: Vec<String> = Vec::new();
    for code in cell.split('`').skip(1).step_by(2) {
        let target = METHODS.iter().find_map(|method| code.strip_prefix(method)).unwrap_or(code);
        let path = match (target.split('?').next().unwrap(), paths.last()) {
            // A query on its own belongs to the previous path without its parameters.
            ("", Some(before)) => before.split("/{").next().unwrap().to_owned(),
            (path, _) => path.to_owned(),
        };
        if path.starts_with('/') {
            paths.push(path);
        }
    }
    paths
}

#[test]
fn readme_lists_every_path_and_whether_it_needs_a_key() {
    let documented = documented_paths();
    let is_documented = |path: &str| documented.iter().any(|(documented, _)| documented == path);
    // Undocumented paths under a page are requested only by that page.
    let is_part_of_a_page = |endpoint: &Endpoint| {
        let page = endpoint.path.split("/{").next().unwrap();
        page != endpoint.path
            && undocumented_paths().contains(&endpoint.path)
            && is_documented(page)
    };
    let served = endpoints().into_iter().filter(|endpoint| !is_part_of_a_page(endpoint));
    let served = served.map(|endpoint| (endpoint.path.replace("+}", "}"), endpoint.needs_key()));
    assert_eq!(documented, served.collect());
}

/// The function that `cargo lambda watch` calls for a path.
fn watched_function(path: &str) -> Option<String> {
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    let entries = &manifest["workspace"]["metadata"]["lambda"]["watch"]["router"];
    let mut router = Router::new();
    for (path, function) in entries.as_table().unwrap() {
        router.insert(path, function.as_str().unwrap().to_owned()).unwrap();
    }
    router.at(path).ok().map(|found| found.value.clone())
}

#[test]
fn the_template_and_the_watch_router_have_every_route() {
    let endpoints: BTreeSet<Endpoint> =
        endpoints().into_iter().chain([Endpoint::unknown_paths()]).collect();
    let deployed = template::routes().into_iter().map(|Route { path, method, function }| {
        assert_eq!(method, "ANY", "{path}: the functions return 405 themselves");
        Endpoint { path, function }
    });
    assert_eq!(deployed.collect::<BTreeSet<_>>(), endpoints, "template.yaml and the routes");
    for Endpoint { path, function } in &endpoints {
        let path = if path == DEFAULT_ROUTE { "/v1/unknown" } else { path };
        let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let example = parts.collect::<Vec<_>>().join("/");
        let watched = watched_function(&example);
        assert_eq!(watched.as_ref(), Some(function), "the watch router in Cargo.toml: {path}");
    }
}

/// The names of files and folders in one of the project's folders.
fn entries(name: &str) -> BTreeSet<String> {
    let found = fs::read_dir(Path::new(ROOT).join(name)).unwrap();
    found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The event tests need a request for every route, and a complete event for every function.
#[test]
fn the_template_the_events_and_the_program_have_every_function() {
    let functions = entries("functions");
    let deployed = template::functions().into_iter().map(|function| function.binary);
    assert_eq!(deployed.collect::<BTreeSet<_>>(), functions, "template.yaml and functions/");
    assert_eq!(entries("events"), functions, "events/ and functions/");
    for (name, _) in tnr::functions() {
        let files = entries(&format!("events/{name}"));
        assert!(files.iter().any(|file| file.ends_with(".json")), "events/{name}");
    }
    let local = tnr::functions().into_iter().map(|(name, _)| name);
    let all: BTreeSet<String> = local.chain(["ingest", "probe"]).map(str::to_owned).collect();
    assert_eq!(all, functions, "infra/tnr/src/lib.rs and functions/");
}
