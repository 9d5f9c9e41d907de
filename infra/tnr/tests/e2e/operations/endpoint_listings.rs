//! Every file that must list a function or a route. All omissions are reported at once.

use std::{collections::BTreeSet, fs, path::Path};

use matchit::Router;

use crate::support::{
    api_events::events_folder,
    endpoints::{Endpoint, endpoints, is_part_of_a_page},
    readme,
    sample_requests::requests_for,
    template::{self, DEFAULT_ROUTE, Route},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Files outside the code that do not list this route.
fn missing_listings_for_route(Endpoint { path, function }: &Endpoint) -> Vec<String> {
    let is_unknown_path = *path == DEFAULT_ROUTE;
    let is_deployed = |it: &Route| it.path == *path && it.function == *function;
    let example = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
    let example = example.collect::<Vec<_>>().join("/");
    let example = if is_unknown_path { "/v1/unknown" } else { &example };
    let has_request = requests_for(function).iter().any(|request| {
        let is_expected = is_unknown_path || !request.is_rejected();
        is_expected && template::route_for(request.path()).0 == *path
    });
    let is_documented = is_unknown_path || readme::documents(path) || is_part_of_a_page(path);
    let is_watched = watch_router().at(example).is_ok_and(|found| found.value == function);
    let listings = [
        (template::routes().iter().any(is_deployed), "template.yaml: an event"),
        (is_watched, "Cargo.toml: an entry in the watch router"),
        (has_request, "events/<function>/requests.txt: a successful request"),
        (is_documented, "README.md: a path in the table of requests"),
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
    let manifest: toml::Table = include_str!("../../../../../Cargo.toml").parse().unwrap();
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
    for path in readme::rows().into_iter().flat_map(|row| row.paths) {
        let is_known = endpoints.iter().any(|endpoint| endpoint.path.replace("+}", "}") == path);
        assert!(is_known, "only README.md has {path}");
    }
    let functions = folders("functions");
    let deployed: BTreeSet<String> =
        template::functions().into_iter().map(|function| function.binary).collect();
    assert_eq!(deployed, functions, "template.yaml and functions/");
    assert_eq!(folders("events"), functions, "events/ and functions/");
}
