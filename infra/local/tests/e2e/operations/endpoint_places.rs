//! Every place that must list a function or a route. All omissions are reported at once.

use std::{collections::BTreeSet, fs, path::Path};

use matchit::Router;
use store::Tables;
use tnr::template::tables;

use crate::support::{
    api_events::events_folder,
    endpoints::{Endpoint, endpoints, is_part_of_a_page},
    metrics::functions_watched_by,
    readme,
    sample_requests::requests_for,
    template::{self, DEFAULT_ROUTE, Function, text},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The places outside the code that lack a route.
fn missing_places_for_route(endpoint: &Endpoint) -> Vec<String> {
    let Endpoint { path, function } = endpoint;
    let is_unknown_path = *path == DEFAULT_ROUTE;
    let routes = template::routes();
    let is_deployed = routes.iter().any(|it| it.path == *path && it.function == *function);
    let watched = watch_router();
    let is_watched = watched.at(&example_path(path)).is_ok_and(|found| found.value == function);
    let has_request = requests_for(function).iter().any(|request| {
        let is_expected = is_unknown_path || !request.is_rejected();
        is_expected && template::route_for(request.path()).0 == *path
    });
    let is_documented = is_unknown_path || readme::documents(path) || is_part_of_a_page(path);
    let places = [
        (is_deployed, "template.yaml: an event".to_owned()),
        (is_watched, "Cargo.toml: an entry in the watch router".to_owned()),
        (has_request, format!("events/{function}/requests.txt: a successful request")),
        (is_documented, "README.md: a path in the table of requests".to_owned()),
    ];
    let missing = places.into_iter().filter(|(is_present, _)| !is_present);
    missing.map(|(_, place)| format!("{place} for the route {path} of {function}")).collect()
}

/// The places outside the code that lack a function that serves HTTP.
fn missing_places_for_function(name: &str) -> Vec<String> {
    let functions = template::functions();
    let deployed = functions.iter().find(|function| function.binary == name);
    let resource = deployed.map_or("", |function| &function.resource);
    let is_local = tnr::functions().iter().any(|(function, _)| *function == name);
    let events = fs::read_dir(events_folder().join(name)).into_iter().flatten();
    let is_json = |file: &Path| file.extension().is_some_and(|extension| extension == "json");
    let has_event = events.map(|file| file.unwrap().path()).any(|file| is_json(&file));
    let is_watched = functions_watched_by("ThrottledAlarm", "Throttles").contains(resource);
    let places = [
        (deployed.is_some(), "template.yaml: a function".to_owned()),
        (has_log_group(deployed), "template.yaml: a log group for JSON lines".to_owned()),
        (is_watched, "template.yaml: a metric in ThrottledAlarm".to_owned()),
        (is_local, "infra/local/src/functions.rs: an entry".to_owned()),
        (has_event, format!("events/{name}: a complete event")),
    ];
    let missing = places.into_iter().filter(|(is_present, _)| !is_present);
    missing.map(|(_, place)| format!("{place} for the function {name}")).collect()
}

fn has_log_group(function: Option<&Function>) -> bool {
    function.is_some_and(|function| {
        let logging = &function.properties["LoggingConfig"];
        logging["LogFormat"] == "JSON"
            && template::resources().contains_key(&text(&logging["LogGroup"]))
    })
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

fn example_path(route: &str) -> String {
    if route == DEFAULT_ROUTE {
        return "/v1/unknown".to_owned();
    }
    let segments = route.split('/');
    segments
        .map(|part| if part.starts_with('{') { "1" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

/// The names of a project folder's subfolders.
fn folders(name: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(name)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_route_and_function_is_listed_everywhere() {
    let endpoints = endpoints().into_iter().chain([Endpoint::unknown_paths()]);
    let is_behind_api = |name: &String| !["ingest", "probe"].contains(&name.as_str());
    let names = folders("functions").into_iter().filter(is_behind_api);
    let missing = endpoints.flat_map(|it| missing_places_for_route(&it));
    let missing: Vec<_> =
        missing.chain(names.flat_map(|name| missing_places_for_function(&name))).collect();
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn only_existing_routes_and_functions_are_listed() {
    let endpoints: BTreeSet<Endpoint> =
        endpoints().into_iter().chain([Endpoint::unknown_paths()]).collect();
    for route in template::routes() {
        assert_eq!(route.method, "ANY", "{}: the functions return 405 themselves", route.path);
        let endpoint = Endpoint { path: route.path, function: route.function };
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

#[test]
fn the_template_defines_the_tables_that_the_store_uses() {
    // `--stack` finds the tables by their names in the template.
    let Tables { carriers, exchanges, dataset, history, api_keys, usage } =
        Tables::for_stack("numbers");
    let names = [carriers, exchanges, dataset, history, api_keys, usage];
    let expected = names.into_iter().zip(["ocn", "npa_nxx", "id", "code", "key_hash", "id"]);
    let tables = tables().unwrap().into_iter();
    let tables = tables.map(|table| (format!("numbers-{}", table.name), table.key));
    assert!(tables.eq(expected.map(|(name, key)| (name, key.to_owned()))));
}
