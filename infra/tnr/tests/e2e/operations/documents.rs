//! The README, the template and the watch router have every route and function. The sessions `site` and `costs` compare
//! generated documents with the program.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::Path,
};

use matchit::Router;
use tnr::operate::costs::{Usage, bill};

use crate::support::{
    api_events::events_folder,
    endpoints::{Endpoint, endpoints, undocumented_paths},
    sample_requests::requests_for,
    template::{self, DEFAULT_ROUTE, Route},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const README: &str = include_str!("../../../../../README.md");
const MANIFEST: &str = include_str!("../../../../../Cargo.toml");

/// A row in the README's table of requests.
struct Row {
    /// The documented paths, including those for queries: `/v1/npa` as well as `/v1/npa/{npa}`.
    paths: Vec<String>,
    needs_key: bool,
}

/// The methods that a row may start with.
const METHODS: [&str; 2] = ["GET ", "POST "];

fn readme_rows() -> Vec<Row> {
    let is_request = |line: &&str| METHODS.iter().any(|it| line.starts_with(&format!("| `{it}")));
    let rows = README.lines().filter(is_request);
    rows.map(|row| Row { paths: paths(row), needs_key: !row.contains("without a key") }).collect()
}

/// The paths in the first cell of a row: `` `GET /v1/npa/{npa}` or `?npa=` `` has two.
fn paths(row: &str) -> Vec<String> {
    let cell = row.split(" | ").next().unwrap();
    let mut paths: Vec<String> = Vec::new();
    for code in cell.split('`').skip(1).step_by(2) {
        let target = METHODS.iter().find_map(|method| code.strip_prefix(method)).unwrap_or(code);
        let path = match (target.split('?').next().unwrap(), paths.last()) {
            // A bare query belongs to the previous path without its parameters.
            ("", Some(before)) => before.split("/{").next().unwrap().to_owned(),
            (path, _) => path.to_owned(),
        };
        if path.starts_with('/') {
            paths.push(path);
        }
    }
    paths
}

/// Returns `true` if a row documents the path, and whether it needs a key, or if only a documented page requests it.
fn is_documented(endpoint: &Endpoint, rows: &[Row]) -> bool {
    let path = endpoint.path.replace("+}", "}");
    let documents = |path: &str, row: &Row| row.paths.iter().any(|documented| documented == path);
    let page = path.split("/{").next().unwrap();
    let is_part_of_a_page = page != path && undocumented_paths().contains(&endpoint.path);
    rows.iter().any(|row| documents(&path, row) && row.needs_key == endpoint.needs_key())
        || is_part_of_a_page && rows.iter().any(|row| documents(page, row))
}

/// Files outside the code that do not list this route.
fn missing_listings_for_route(endpoint: &Endpoint) -> Vec<String> {
    let Endpoint { path, function } = endpoint;
    let is_unknown_path = *path == DEFAULT_ROUTE;
    let is_deployed = |it: &Route| it.path == *path && it.function == *function;
    let example = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    let example = example.collect::<Vec<_>>().join("/");
    let example = if is_unknown_path { "/v1/unknown" } else { &example };
    let has_request = requests_for(function).iter().any(|request| {
        let is_expected = is_unknown_path || !request.is_rejected();
        is_expected && template::route_for(request.path()).0 == *path
    });
    let is_watched = watch_router().at(example).is_ok_and(|found| found.value == function);
    let listings = [
        (template::routes().iter().any(is_deployed), "template.yaml: an event"),
        (is_watched, "Cargo.toml: an entry in the watch router"),
        (has_request, "events/<function>/requests.txt: a successful request"),
        (
            is_unknown_path || is_documented(endpoint, &readme_rows()),
            "README.md: a path in the table of requests, with or without a key",
        ),
    ];
    missing(&listings, &format!("the route {path} of {function}"))
}

/// Files outside the code that do not list this HTTP function.
fn missing_listings_for_function(name: &str) -> Vec<String> {
    let is_deployed = template::functions().iter().any(|function| function.binary == name);
    let is_local = tnr::functions().iter().any(|(function, _)| *function == name);
    let mut events = fs::read_dir(events_folder().join(name)).into_iter().flatten();
    let is_json = |file: &Path| file.extension().is_some_and(|extension| extension == "json");
    let has_event = events.any(|file| is_json(&file.unwrap().path()));
    let listings = [
        (is_deployed, "template.yaml: a function"),
        (is_local, "infra/tnr/src/functions.rs: an entry"),
        (has_event, "events/<function>: a complete event"),
    ];
    missing(&listings, &format!("the function {name}"))
}

/// Describes the listings that are not present.
fn missing(listings: &[(bool, &str)], listed: &str) -> Vec<String> {
    let missing = listings.iter().filter(|(is_present, _)| !is_present);
    missing.map(|(_, listing)| format!("{listing} for {listed}")).collect()
}

/// The router for `cargo lambda watch`, which uses `matchit`.
fn watch_router() -> Router<String> {
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    let entries = &manifest["workspace"]["metadata"]["lambda"]["watch"]["router"];
    let mut router = Router::new();
    for (path, function) in entries.as_table().unwrap() {
        router.insert(path, function.as_str().unwrap().to_owned()).unwrap();
    }
    router
}

/// The names of a project folder's subfolders.
fn folders(name: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(name)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// All omissions are reported at once.
#[test]
fn every_route_and_function_is_listed_everywhere() {
    let endpoints = endpoints().into_iter().chain([Endpoint::unknown_paths()]);
    let names = folders("functions").into_iter().filter(|name| name != "ingest" && name != "probe");
    let missing = endpoints.flat_map(|it| missing_listings_for_route(&it));
    let missing: Vec<_> =
        missing.chain(names.flat_map(|name| missing_listings_for_function(&name))).collect();
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn only_existing_routes_and_functions_are_listed() {
    let endpoints: BTreeSet<Endpoint> =
        endpoints().into_iter().chain([Endpoint::unknown_paths()]).collect();
    for Route { path, method, function } in template::routes() {
        assert_eq!(method, "ANY", "{path}: the functions return 405 themselves");
        let endpoint = Endpoint { path, function };
        assert!(endpoints.contains(&endpoint), "only template.yaml has {endpoint:?}");
    }
    for path in readme_rows().into_iter().flat_map(|row| row.paths) {
        let is_known = endpoints.iter().any(|endpoint| endpoint.path.replace("+}", "}") == path);
        assert!(is_known, "only README.md has {path}");
    }
    let functions = folders("functions");
    let deployed: BTreeSet<String> =
        template::functions().into_iter().map(|function| function.binary).collect();
    assert_eq!(deployed, functions, "template.yaml and functions/");
    assert_eq!(folders("events"), functions, "events/ and functions/");
}

#[test]
fn the_readme_price_matches_the_costs() {
    let bill: HashMap<String, f64> = bill(&Usage::month(1e6, 0.01)).into_iter().collect();
    let requests = bill["Total for requests"];
    let fixed = bill["Total"] - requests;
    let price = format!("about ${requests:.0} per million requests plus ${fixed:.0} a month");
    assert!(README.contains(&price), "README.md must say '{price}'");
}

#[test]
fn every_dependency_has_a_documented_reason() {
    let manifest: toml::Table = MANIFEST.parse().unwrap();
    let reasons = include_str!("../../../../../docs/DEPENDENCIES.md");
    let is_explained = |name: &str| {
        reasons.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{name}`")))
    };
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        let is_ours = dependency.get("path").is_some();
        assert!(is_ours || is_explained(name), "docs/DEPENDENCIES.md has no reason for {name}");
    }
}
