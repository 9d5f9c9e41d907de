//! Lists the endpoints declared in code, so that tests do not have to.

use std::{collections::BTreeSet, sync::LazyLock};

use serde_json::Value;
use shared::routes::Routes;
use tnr::openapi;

use super::template::{self, DEFAULT_ROUTE};
use tnr::openapi::sample_requests::{SampleRequest, requests_for};

/// An API path, or [`DEFAULT_ROUTE`] for all others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The path as in the template, such as `/v1/format/{tn+}`.
    pub path: String,
    /// The function that serves it, by folder name.
    pub function: String,
}

/// The endpoints of all functions that serve HTTP.
pub fn endpoints() -> Vec<Endpoint> {
    let to_endpoints = |(function, routes): (&'static str, Routes)| {
        let paths = routes.paths().map(to_template_path).collect::<Vec<_>>();
        paths.into_iter().map(|path| Endpoint { path, function: function.to_owned() })
    };
    tnr::functions().into_iter().flat_map(to_endpoints).collect()
}

pub fn routes_for(function: &str) -> Routes {
    tnr::functions().into_iter().find(|(name, _)| *name == function).unwrap().1
}

/// A router path in API Gateway's syntax: `{*tn}` becomes `{tn+}`.
fn to_template_path(path: &str) -> String {
    match path.split_once("{*") {
        Some((before, name)) => format!("{before}{{{}+}}", name.trim_end_matches('}')),
        None => path.to_owned(),
    }
}

impl Endpoint {
    pub fn unknown_paths() -> Self {
        Self { path: DEFAULT_ROUTE.to_owned(), function: "status".to_owned() }
    }

    /// The sample requests for this endpoint.
    pub fn requests(&self) -> Vec<SampleRequest> {
        let requests = requests_for(&self.function).into_iter();
        requests.filter(|request| template::route_for(request.path()).0 == self.path).collect()
    }

    /// The first successful sample request.
    pub fn example(&self) -> SampleRequest {
        let example = self.requests().into_iter().find(|request| !request.is_rejected());
        example.unwrap_or_else(|| {
            panic!("events/{}/requests.txt lacks a request for {}", self.function, self.path)
        })
    }

    /// Returns `true` if it needs an API key according to its description or, if it has none, its function.
    pub fn needs_key(&self) -> bool {
        if undocumented_paths().contains(&self.path) {
            return !browser_paths().contains(&self.path);
        }
        static DESCRIPTION: LazyLock<Value> = LazyLock::new(openapi::description);
        let description = &*DESCRIPTION;
        let path = self.path.replace("+}", "}");
        let operations = description["paths"][&path].as_object();
        let operations = operations.unwrap_or_else(|| panic!("{path} is not described"));
        operations.values().any(openapi::needs_key)
    }
}

/// Paths that are not in the API description, written as in the template.
pub fn undocumented_paths() -> BTreeSet<String> {
    undocumented_paths_where(|_| true)
}

/// Undocumented paths for browsers, which do not need a key.
pub fn browser_paths() -> BTreeSet<String> {
    undocumented_paths_where(|routes| !routes.require_key())
}

fn undocumented_paths_where(is_included: fn(&Routes) -> bool) -> BTreeSet<String> {
    let functions = tnr::routes().into_iter().filter(is_included);
    let paths = |routes: Routes| {
        routes.undocumented_paths().into_iter().map(to_template_path).collect::<Vec<_>>()
    };
    functions.flat_map(paths).collect()
}
