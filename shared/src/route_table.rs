//! The allowed methods and known parameters of each route, from its OpenAPI description.

use std::collections::HashMap;

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderValue, Method},
};
use utoipa::openapi::{
    PathItem, RefOr,
    path::{Operation, ParameterIn},
};

use crate::{
    errors::{ApiError, quote},
    params::API_KEY,
    routes::{Admission, Routes},
    unknown_params::unknown_name,
};

/// The route for an unknown path. Preflights for it succeed for every method, so that a page can read the 404.
pub(crate) static UNKNOWN_PATH: RouteSpec = RouteSpec {
    allow: HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
    usage: String::new(),
    takes_body: true,
    params: Vec::new(),
    admission: Admission::Public,
};

/// All routes, by path in the router's syntax.
pub(crate) struct RouteTable(HashMap<String, RouteSpec>);

/// The methods and parameters of one route.
pub(crate) struct RouteSpec {
    /// The value of the `Allow` header.
    pub allow: HeaderValue,
    /// The methods as shown in messages, such as `GET or POST`.
    usage: String,
    pub takes_body: bool,
    /// The known query parameters of each method.
    params: Vec<(Method, Vec<String>)>,
    pub admission: Admission,
}

impl RouteTable {
    pub fn new(functions: &[Routes]) -> Self {
        let mut specs = HashMap::new();
        for routes in functions {
            for (path, item) in routes.descriptions().into_iter().flat_map(|api| &api.paths.paths) {
                let route = RouteSpec::new(item, routes.admission(path));
                specs.insert(path.clone(), route);
            }
        }
        Self(specs)
    }

    /// Finds the route for a request; `None` for an unknown path.
    pub fn find(&self, request: &Request) -> Option<&RouteSpec> {
        self.0.get(request.extensions().get::<MatchedPath>()?.as_str())
    }
}

impl RouteSpec {
    fn new(item: &PathItem, admission: Admission) -> Self {
        let operations = [
            (Method::GET, &item.get),
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::PATCH, &item.patch),
            (Method::DELETE, &item.delete),
        ];
        let params: Vec<(Method, Vec<String>)> = operations
            .into_iter()
            .filter_map(|(method, operation)| Some((method, query_params(operation.as_ref()?))))
            .collect();
        let methods = || params.iter().map(|(method, _)| method.as_str());
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
            params,
            admission,
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
        let (method, query) = (request.method(), request.uri().query().unwrap_or_default());
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let Some((_, known)) = self.params.iter().find(|(supported, _)| supported == method) else {
            return Ok(());
        };
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        match names.find(|name| !known.iter().any(|param| param == name)) {
            Some(unknown) => Err(unknown_name("parameter", &unknown, "endpoint", known)),
            None => Ok(()),
        }
    }
}

fn query_params(operation: &Operation) -> Vec<String> {
    let parameters = operation.parameters.iter().flatten();
    let names = parameters.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
            Some(parameter.name.clone())
        }
        _ => None,
    });
    names.chain([API_KEY.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use utoipa::openapi::{
        HttpMethod::{self, Get, Post},
        path::{OperationBuilder, ParameterBuilder},
    };

    use super::*;

    fn route(methods: Vec<HttpMethod>) -> RouteSpec {
        let param = ParameterBuilder::new().name("npa").parameter_in(ParameterIn::Query);
        let operation = OperationBuilder::new().parameter(param);
        let item = PathItem::from_http_methods(methods, operation);
        RouteSpec::new(&item, Admission::Counted)
    }

    #[test]
    fn head_and_options_are_allowed_without_a_description() {
        for (methods, allow, usage, takes_body) in [
            (vec![Get], "GET, HEAD, OPTIONS", "GET", false),
            (vec![Post], "POST, OPTIONS", "POST", true),
            (vec![Post, Get], "GET, HEAD, POST, OPTIONS", "GET or POST", true),
        ] {
            let route = route(methods);
            assert_eq!(route.allow, allow);
            assert_eq!((route.usage.as_str(), route.takes_body), (usage, takes_body));
        }
    }

    #[test]
    fn unknown_parameters_are_rejected_for_every_method() {
        let route = route(vec![Get, Post]);
        for method in ["GET", "HEAD", "POST"] {
            let request = |target: &str| {
                Request::builder().method(method).uri(target).body(Body::empty()).unwrap()
            };
            assert!(route.check_params(&request("/?npa=415&apiKey=k")).is_ok(), "{method}");
            let rejected = route.check_params(&request("/?npa=415&nxx=234"));
            assert!(matches!(rejected, Err(ApiError::InvalidRequest(_))), "{method}");
        }
    }
}
