//! The methods and parameters of each route, from its OpenAPI description: which methods are allowed, which
//! ones a 405 or a preflight response lists, and which parameters are known.

use std::{collections::HashMap, sync::Arc};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderValue, Method},
};
use utoipa::openapi::{
    OpenApi, PathItem, RefOr,
    path::{Operation, ParameterIn},
};

use crate::{
    errors::{ApiError, quote},
    params::API_KEY,
    unknown_params::refusal,
};

/// The methods of an unknown path: every method a route can have. Preflights then succeed, so a page can read
/// the 404.
static UNKNOWN_PATH: DescribedRoute = DescribedRoute {
    allow: HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
    usage: String::new(),
    takes_body: true,
    params: Vec::new(),
};

/// All routes, by path as the router writes it.
#[derive(Clone)]
pub(crate) struct DescribedRoutes(Arc<HashMap<String, DescribedRoute>>);

/// The methods and parameters of one route.
pub(crate) struct DescribedRoute {
    /// All methods, for the `Allow` header.
    pub allow: HeaderValue,
    /// The allowed methods, as prose.
    usage: String,
    /// `true` if a method takes a body.
    pub takes_body: bool,
    /// The known query parameters of each method.
    params: Vec<(Method, Vec<String>)>,
}

impl DescribedRoutes {
    pub fn new<'a>(descriptions: impl IntoIterator<Item = &'a OpenApi>) -> Self {
        let items = descriptions.into_iter().flat_map(|description| &description.paths.paths);
        Self(Arc::new(
            items.map(|(path, item)| (path.clone(), DescribedRoute::from_item(item))).collect(),
        ))
    }

    /// Rejects a method that the route does not support.
    pub fn check_method(&self, request: &Request) -> Result<(), ApiError> {
        let (method, path) = (request.method(), request.uri().path());
        let route = self.route_of(request);
        if route.has(method) {
            return Ok(());
        }
        let message = format!("{method} is not allowed on {}; use {}", quote(path), route.usage);
        Err(ApiError::MethodNotAllowed { message, allow: route.allow.clone() })
    }

    /// Rejects unknown parameters. Otherwise a mistyped filter would be silently ignored.
    pub fn check_params(&self, request: &Request) -> Result<(), ApiError> {
        let query = request.uri().query().unwrap_or_default();
        self.route_of(request).check_params(request.method(), query)
    }

    pub fn route_of(&self, request: &Request) -> &DescribedRoute {
        let route = request.extensions().get::<MatchedPath>();
        route.and_then(|route| self.0.get(route.as_str())).unwrap_or(&UNKNOWN_PATH)
    }
}

impl DescribedRoute {
    fn from_item(item: &PathItem) -> Self {
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
        // The router answers `HEAD` with the `GET` handler, and the outer layers answer `OPTIONS`.
        let allow: Vec<&str> = methods()
            .flat_map(|method| if method == "GET" { vec![method, "HEAD"] } else { vec![method] })
            .chain(["OPTIONS"])
            .collect();
        Self {
            allow: HeaderValue::try_from(allow.join(", ")).expect("names of methods are tokens"),
            usage: methods().collect::<Vec<_>>().join(" or "),
            takes_body: methods().any(|method| method != "GET"),
            params,
        }
    }

    fn has(&self, method: &Method) -> bool {
        let allowed = self.allow.to_str().unwrap_or_default();
        allowed.split(", ").any(|name| name == method.as_str())
    }

    fn check_params(&self, method: &Method, query: &str) -> Result<(), ApiError> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let Some((_, known)) = self.params.iter().find(|(described, _)| described == method) else {
            return Ok(());
        };
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        match names.find(|name| !known.iter().any(|param| param == name)) {
            Some(unknown) => Err(refusal("parameter", &unknown, "endpoint", known)),
            None => Ok(()),
        }
    }
}

fn query_params(operation: &Operation) -> Vec<String> {
    let described = operation.parameters.iter().flatten();
    let of_query = described.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => {
            Some(parameter.name.clone())
        }
        _ => None,
    });
    of_query.chain([API_KEY.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::{
        HttpMethod::{self, Get, Post},
        path::{OperationBuilder, ParameterBuilder},
    };

    use super::*;

    fn route(methods: Vec<HttpMethod>) -> DescribedRoute {
        let param = ParameterBuilder::new().name("npa").parameter_in(ParameterIn::Query);
        let operation = OperationBuilder::new().parameter(param);
        DescribedRoute::from_item(&PathItem::from_http_methods(methods, operation))
    }

    #[test]
    fn a_route_has_its_described_and_implied_methods() {
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
        for method in [Method::GET, Method::HEAD, Method::POST] {
            assert!(route.check_params(&method, "npa=415&apiKey=k").is_ok(), "{method}");
            let refused = route.check_params(&method, "npa=415&nxx=234");
            assert!(matches!(refused, Err(ApiError::InvalidRequest(_))), "{method}");
        }
    }
}
