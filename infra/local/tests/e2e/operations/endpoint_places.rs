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
    sample_requests::requests_of,
    template::{self, DEFAULT_ROUTE, Function, text},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The places that lack an endpoint, each with what is missing.
type Missing = Vec<String>;

/// Places outside the code that lack a route.
fn missing_places_of_route(endpoint: &Endpoint) -> Missing {
    let Endpoint { path, function } = endpoint;
    let mut missing = Missing::new();
    let mut require = |is_there: bool, place: &str| {
        if !is_there {
            missing.push(format!("{place} for the route {path} of {function}"));
        }
    };
    let routes = template::routes();
    require(
        routes.iter().any(|route| route.path == *path && route.function == *function),
        "template.yaml: an event",
    );
    require(
        watch_router().at(&example_path(path)).is_ok_and(|found| found.value == function),
        "Cargo.toml: an entry in the watch router",
    );
    let is_answered = |request_path: &str| matches_route(path, request_path);
    let requests = requests_of(function);
    let is_unknown_path = *path == DEFAULT_ROUTE;
    let has_request = requests
        .iter()
        .any(|request| is_answered(request.path()) && (is_unknown_path || !request.is_refused()));
    require(has_request, &format!("events/{function}/requests.txt: a request that succeeds,"));
    require(
        is_unknown_path || readme::documents(path) || is_part_of_a_page(path),
        "README.md: a path in the table of requests",
    );
    missing
}

/// Places outside the code that lack a function that answers HTTP.
fn missing_places_of_function(name: &str) -> Missing {
    let mut missing = Missing::new();
    let mut require = |is_there: bool, place: &str| {
        if !is_there {
            missing.push(format!("{place} for the function {name}"));
        }
    };
    let functions = template::functions();
    let deployed = functions.iter().find(|function| function.binary == name);
    require(deployed.is_some(), "template.yaml: a function");
    require(has_log_group(deployed), "template.yaml: a log group for JSON lines");
    require(has_alarm(deployed), "template.yaml: an errors alarm in the DeploymentPreference");
    let throttled = functions_watched_by("ThrottledAlarm", "Throttles");
    let resource = deployed.map_or("", |function| &function.resource);
    require(throttled.contains(resource), "template.yaml: a metric in ThrottledAlarm");
    require(
        tnr::functions().iter().any(|(function, _)| *function == name),
        "infra/local/src/functions.rs: an entry",
    );
    let event_files = fs::read_dir(events_folder().join(name)).into_iter().flatten();
    let is_whole = |file: &Path| file.extension().is_some_and(|extension| extension == "json");
    require(
        event_files.map(|file| file.unwrap().path()).any(|file| is_whole(&file)),
        &format!("events/{name}: a whole event"),
    );
    missing
}

fn has_log_group(function: Option<&Function>) -> bool {
    function.is_some_and(|function| {
        let logging = &function.properties["LoggingConfig"];
        logging["LogFormat"] == "JSON"
            && template::resources().contains_key(&text(&logging["LogGroup"]))
    })
}

fn has_alarm(function: Option<&Function>) -> bool {
    function.is_some_and(|function| {
        let alarms = template::deployment_alarms(function);
        alarms.iter().any(|alarm| template::resources().contains_key(alarm))
    })
}

/// The router of `cargo lambda watch`, which uses `matchit`.
fn watch_router() -> Router<String> {
    let manifest: toml::Table = include_str!("../../../../../Cargo.toml").parse().unwrap();
    let entries = &manifest["workspace"]["metadata"]["lambda"]["watch"]["router"];
    let mut router = Router::new();
    for (path, function) in entries.as_table().unwrap() {
        router.insert(path, function.as_str().unwrap().to_owned()).unwrap();
    }
    router
}

/// A path that matches a route.
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

/// Returns `true` if a route of the template matches a path.
fn matches_route(route: &str, path: &str) -> bool {
    template::route_of(path).0 == route
}

/// The folder names in a project folder.
fn folders(name: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(ROOT).join(name)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_route_is_listed_everywhere() {
    let endpoints = endpoints().into_iter().chain([Endpoint::unknown_paths()]);
    let missing: Missing = endpoints.flat_map(|it| missing_places_of_route(&it)).collect();
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn every_function_is_listed_everywhere() {
    let is_behind_api = |name: &String| !["ingest", "probe"].contains(&name.as_str());
    let names = folders("functions").into_iter().filter(is_behind_api);
    let missing: Missing = names.flat_map(|name| missing_places_of_function(&name)).collect();
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
}

#[test]
fn no_nonexistent_route_or_function_is_listed() {
    let endpoints: BTreeSet<Endpoint> =
        endpoints().into_iter().chain([Endpoint::unknown_paths()]).collect();
    for route in template::routes() {
        assert_eq!(route.method, "ANY", "{}: the functions answer 405 themselves", route.path);
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
fn the_template_defines_the_tables_of_the_store() {
    let tables: Vec<_> =
        tables().unwrap().into_iter().map(|table| (table.name, table.key)).collect();
    let expected = [
        ("carriers", "ocn"),
        ("exchanges", "npa_nxx"),
        ("dataset", "id"),
        ("api_keys", "key_hash"),
        ("usage", "id"),
    ];
    assert_eq!(tables, expected.map(|(name, key)| (name.to_owned(), key.to_owned())));
    // `--stack` finds the tables by their names in the template.
    let Tables { carriers, exchanges, dataset, api_keys, usage } = Tables::for_stack("numbers");
    let of_stack = [carriers, exchanges, dataset, api_keys, usage];
    assert_eq!(of_stack, expected.map(|(name, _)| format!("numbers-{name}")));
}
