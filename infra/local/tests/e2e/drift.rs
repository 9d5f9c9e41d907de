//! The template, the axum routes, the sample events and the watch router name the same paths.

use std::collections::BTreeSet;

use serde_json::Value;
use shared::app::Routes;
use tnr::{functions, template};

use crate::events::events_of;

/// A path with the function that answers it; `$default` stands for every other path.
type Paths = BTreeSet<(String, String)>;

/// One spelling for the greedy parameters of API Gateway (`{tn+}`) and of the routers (`{*tn}`).
fn plain(path: &str) -> String {
    let greedy = |segment: &str| match segment.strip_suffix("+}") {
        Some(greedy) => greedy.replace('{', "{*") + "}",
        None => segment.to_owned(),
    };
    match path {
        "/{*path}" => "$default".to_owned(),
        path => path.split('/').map(greedy).collect::<Vec<_>>().join("/"),
    }
}

fn in_template() -> Paths {
    let routes = template::routes().unwrap();
    assert!(
        routes.iter().all(|route| route.method == "ANY"),
        "the functions answer 405 themselves"
    );
    routes.into_iter().map(|route| (plain(&route.path), route.function)).collect()
}

fn in_axum() -> Paths {
    let of = |(function, routes): (&'static str, Routes)| {
        let paths = routes.paths().map(plain).collect::<Vec<_>>();
        paths.into_iter().map(move |path| (path, String::from(function)))
    };
    let fallback = ("$default".to_owned(), "status".to_owned());
    functions().into_iter().flat_map(of).chain([fallback]).collect()
}

fn in_watch_router() -> Paths {
    let manifest: toml::Table = include_str!("../../../../Cargo.toml").parse().unwrap();
    let router = &manifest["workspace"]["metadata"]["lambda"]["watch"]["router"];
    let routes = router.as_table().unwrap().iter();
    routes.map(|(path, function)| (plain(path), function.as_str().unwrap().to_owned())).collect()
}

fn in_events() -> Paths {
    let of = |function: &'static str| {
        events_of(function).into_iter().map(move |(name, event)| {
            let event: Value = serde_json::from_str(&event).unwrap();
            let route = event["routeKey"].as_str().unwrap();
            assert_eq!(event["requestContext"]["routeKey"], route, "{function}/{name}");
            let path = route.strip_prefix("ANY ").unwrap_or(route);
            (plain(path), function.to_owned())
        })
    };
    functions().into_iter().flat_map(|(function, _)| of(function)).collect()
}

#[test]
fn every_path_is_known_everywhere() {
    let template = in_template();
    assert_eq!(in_axum(), template, "axum routes and template.yaml");
    assert_eq!(in_watch_router(), template, "the watch router in Cargo.toml and template.yaml");
    assert_eq!(in_events(), template, "events/ and template.yaml");
}

#[test]
fn every_function_folder_is_deployed_and_has_events() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let folders = |name: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(format!("{root}{name}")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let deployed: BTreeSet<String> = template::functions().unwrap().into_iter().collect();
    assert_eq!(folders("functions"), deployed);
    assert_eq!(folders("events"), deployed);
}

#[test]
fn the_template_defines_the_tables_the_store_uses() {
    let tables: Vec<_> =
        template::tables().unwrap().into_iter().map(|table| (table.name, table.key)).collect();
    let expected = [
        ("carriers", "ocn"),
        ("exchanges", "npa_nxx"),
        ("dataset", "id"),
        ("api_keys", "key_hash"),
        ("usage", "id"),
    ];
    assert_eq!(tables, expected.map(|(name, key)| (name.to_owned(), key.to_owned())));
}
