//! The methods of each route, from its description: which ones are answered, which ones a 405 names, and
//! which ones a browser may send.

use std::{collections::HashMap, sync::Arc};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderValue, Method},
};
use utoipa::openapi::{OpenApi, PathItem, path::Operation};

use crate::errors::{ApiError, quote};

/// The methods of a path that is no route: all that a route may have. After a preflight that they pass,
/// a page can read the 404.
static OF_UNKNOWN_PATHS: RouteMethods = RouteMethods {
    allow: HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
    usage: String::new(),
    takes_body: true,
};

/// The methods of all routes, by their paths as the router writes them.
#[derive(Clone)]
pub(crate) struct Methods(Arc<HashMap<String, RouteMethods>>);

/// The methods of one route.
#[derive(Debug, Clone)]
pub(super) struct RouteMethods {
    /// All methods, as `Allow` lists them.
    pub allow: HeaderValue,
    /// The methods to use, as a sentence lists them.
    usage: String,
    /// Whether one of them sends a body.
    pub takes_body: bool,
}

impl Methods {
    /// The methods of the routes that are described.
    pub fn of<'a>(descriptions: impl IntoIterator<Item = &'a OpenApi>) -> Self {
        let items = descriptions.into_iter().flat_map(|description| &description.paths.paths);
        Self(Arc::new(items.map(|(path, item)| (path.clone(), RouteMethods::of(item))).collect()))
    }

    /// Refuses a method that the route does not have.
    ///
    /// # Errors
    /// Returns [`ApiError::MethodNotAllowed`], which names those to use.
    pub fn check(&self, request: &Request) -> Result<(), ApiError> {
        let (method, path) = (request.method(), request.uri().path());
        let route = self.of_route(request);
        if route.has(method) {
            return Ok(());
        }
        let message = format!("{method} is not allowed on {}; use {}", quote(path), route.usage);
        Err(ApiError::MethodNotAllowed { message, allow: route.allow.clone() })
    }

    /// The methods of the route of a request.
    pub(super) fn of_route(&self, request: &Request) -> &RouteMethods {
        let route = request.extensions().get::<MatchedPath>();
        let known = route.and_then(|route| self.0.get(route.as_str()));
        known.unwrap_or(&OF_UNKNOWN_PATHS)
    }
}

impl RouteMethods {
    fn of(item: &PathItem) -> Self {
        let described: Vec<Method> = operations(item).map(|(method, _)| method).collect();
        // The router answers `HEAD` by the handler of `GET`, and the layers around it `OPTIONS`.
        let with_head = described.iter().flat_map(|method| match *method {
            Method::GET => vec!["GET", "HEAD"],
            _ => vec![method.as_str()],
        });
        let allow: Vec<&str> = with_head.chain(["OPTIONS"]).collect();
        let usage: Vec<&str> = described.iter().map(Method::as_str).collect();
        Self {
            allow: HeaderValue::try_from(allow.join(", ")).expect("names of methods are tokens"),
            usage: usage.join(" or "),
            takes_body: described.iter().any(|method| *method != Method::GET),
        }
    }

    fn has(&self, method: &Method) -> bool {
        let allowed = self.allow.to_str().unwrap_or_default();
        allowed.split(", ").any(|name| name == method.as_str())
    }
}

/// The operations of a path by their methods.
pub(crate) fn operations(item: &PathItem) -> impl Iterator<Item = (Method, &Operation)> {
    let by_method = [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ];
    by_method.into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::HttpMethod;

    use super::*;

    #[test]
    fn a_route_has_the_methods_of_its_description_and_those_that_come_with_them() {
        use HttpMethod::{Get, Post};
        for (methods, allow, usage, takes_body) in [
            (vec![Get], "GET, HEAD, OPTIONS", "GET", false),
            (vec![Post], "POST, OPTIONS", "POST", true),
            (vec![Post, Get], "GET, HEAD, POST, OPTIONS", "GET or POST", true),
        ] {
            let found = RouteMethods::of(&PathItem::from_http_methods(methods, Operation::new()));
            assert_eq!(found.allow, allow);
            assert_eq!((found.usage.as_str(), found.takes_body), (usage, takes_body));
        }
    }
}
