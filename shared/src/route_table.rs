//! The allowed methods and known parameters of each path, from the descriptions of its routes.

use std::{collections::HashMap, sync::OnceLock};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderValue, Method},
};
use utoipa::openapi::{HttpMethod, RefOr, path::ParameterIn};

use crate::{
    errors::{ApiError, quote},
    params::API_KEY,
    routes::{Description, Route, Routes},
    unknown_params::unknown_name,
};

/// The route for an unknown path. Preflights for it succeed for every method, so that a page can read the 404.
pub(crate) static UNKNOWN_PATH: RouteSpec = RouteSpec {
    allow: HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
    usage: String::new(),
    takes_body: true,
    methods: Vec::new(),
    is_public: true,
};

/// All paths, in the router's syntax.
pub(crate) struct RouteTable(HashMap<String, RouteSpec>);

/// The methods and parameters of one path.
pub(crate) struct RouteSpec {
    /// The value of the `Allow` header.
    pub allow: HeaderValue,
    /// The methods as shown in messages, such as `GET or POST`.
    usage: String,
    pub takes_body: bool,
    methods: Vec<MethodSpec>,
    /// `true` if it does not require a key.
    pub is_public: bool,
}

struct MethodSpec {
    method: Method,
    description: Option<Description>,
    /// The known query parameters. The first request with a query builds the description to find them.
    params: OnceLock<Vec<String>>,
}

impl RouteTable {
    pub fn new(functions: &[Routes]) -> Self {
        let spec = |function: &Routes, path: &str| {
            let routes = function.routes.iter().filter(|route| route.path == path);
            RouteSpec::new(routes, function.is_public)
        };
        let specs = functions.iter().flat_map(|function| {
            function.paths().map(move |path| (path.to_owned(), spec(function, path)))
        });
        Self(specs.collect())
    }

    /// Finds the route for a request; `None` for an unknown path.
    pub fn find(&self, request: &Request) -> Option<&RouteSpec> {
        self.0.get(request.extensions().get::<MatchedPath>()?.as_str())
    }
}

impl RouteSpec {
    fn new<'a>(routes: impl Iterator<Item = &'a Route>, is_public: bool) -> Self {
        let mut specs: Vec<MethodSpec> = routes.map(MethodSpec::new).collect();
        specs.sort_by(|a, b| a.method.as_str().cmp(b.method.as_str()));
        let methods = || specs.iter().map(|spec| spec.method.as_str());
        // The router uses the `GET` handler for `HEAD`, and the outer layers respond to `OPTIONS`.
        let allow: Vec<&str> = methods()
            .flat_map(|method| if method == "GET" { vec![method, "HEAD"] } else { vec![method] })
            .chain(["OPTIONS"])
            .collect();
        Self {
            allow: HeaderValue::try_from(allow.join(", "))
                .expect("method names are valid in headers"),
            usage: methods().collect::<Vec<_>>().join(" or "),
            takes_body: methods().any(|method| method != "GET"),
            methods: specs,
            is_public,
        }
    }

    /// Rejects a method that the route does not support.
    pub fn check_method(&self, request: &Request) -> Result<(), ApiError> {
        let (method, path) = (request.method(), request.uri().path());
        let allowed = self.allow.to_str().unwrap_or_default();
        if allowed.split(", ").any(|name| name == method.as_str()) {
            return Ok(());
        }
        let message = format!("{method} is not allowed on {}; use {}", quote(path), self.usage);
        Err(ApiError::MethodNotAllowed { message, allow: self.allow.clone() })
    }

    /// Rejects unknown parameters, so that a misspelled filter is not silently ignored.
    pub fn check_params(&self, request: &Request) -> Result<(), ApiError> {
        let Some(query) = request.uri().query() else { return Ok(()) };
        let method = request.method();
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let Some(spec) = self.methods.iter().find(|spec| spec.method == *method) else {
            return Ok(());
        };
        let known = spec.params();
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        match names.find(|name| !known.iter().any(|param| param == name)) {
            Some(unknown) => Err(unknown_name("parameter", &unknown, "endpoint", known)),
            None => Ok(()),
        }
    }
}

impl MethodSpec {
    fn new(Route { method, description, .. }: &Route) -> Self {
        let method = match method {
            HttpMethod::Post => Method::POST,
            _ => Method::GET,
        };
        Self { method, description: *description, params: OnceLock::new() }
    }

    fn params(&self) -> &[String] {
        self.params.get_or_init(|| {
            let operation = self.description.map(|it| it.operation());
            let parameters = operation.into_iter().flat_map(|it| it.parameters).flatten();
            let names = parameters.filter_map(|parameter| match parameter {
                RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
                    Some(parameter.name)
                }
                _ => None,
            });
            names.chain([API_KEY.to_owned()]).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, routing::get};

    use super::*;
    use crate::route;

    /// Lists.
    #[utoipa::path(get, path = "/list", params(("npa" = String, Query)))]
    async fn list() {}

    /// Sends.
    #[utoipa::path(post, path = "/list", params(("npa" = String, Query)))]
    async fn send() {}

    fn spec(routes: &[Route]) -> RouteSpec {
        RouteSpec::new(routes.iter(), false)
    }

    #[test]
    fn head_and_options_are_allowed_without_a_description() {
        let page = Route::undocumented_get("/", get(async || ()));
        for (routes, allow, usage, takes_body) in [
            (vec![page], "GET, HEAD, OPTIONS", "GET", false),
            (vec![route!(send)], "POST, OPTIONS", "POST", true),
            (vec![route!(send), route!(list)], "GET, HEAD, POST, OPTIONS", "GET or POST", true),
        ] {
            let route = spec(&routes);
            assert_eq!(route.allow, allow);
            assert_eq!((route.usage.as_str(), route.takes_body), (usage, takes_body));
        }
    }

    #[test]
    fn other_methods_are_rejected_with_those_that_are_allowed() {
        let route = spec(&[route!(send)]);
        let check = |method| {
            route.check_method(&Request::builder().method(method).body(Body::empty()).unwrap())
        };
        assert!(check("POST").is_ok());
        let Err(ApiError::MethodNotAllowed { message, allow }) = check("GET") else { panic!() };
        assert_eq!(message, "GET is not allowed on /; use POST");
        assert_eq!(allow, "POST, OPTIONS");
    }

    #[test]
    fn unknown_parameters_are_rejected_for_every_method() {
        let route = spec(&[route!(list), route!(send)]);
        for method in ["GET", "HEAD", "POST"] {
            let request = |target: &str| {
                Request::builder().method(method).uri(target).body(Body::empty()).unwrap()
            };
            assert!(route.check_params(&request("/?npa=415&apiKey=k")).is_ok(), "{method}");
            let rejected = route.check_params(&request("/?npa=415&nxx=234"));
            assert!(matches!(rejected, Err(ApiError::InvalidRequest(_))), "{method}");
        }
        // Each method has its own.
        let request = Request::get("/?npa=415").body(Body::empty()).unwrap();
        let page = Route::undocumented_get("/", get(async || ()));
        assert!(spec(&[page, route!(send)]).check_params(&request).is_err());
    }
}
