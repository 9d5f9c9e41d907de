//! The methods and parameters that each path supports, from the descriptions of its routes.

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

/// All endpoints, by path in the router's syntax.
pub(crate) struct Endpoints(HashMap<String, Endpoint>);

/// The routes of one path.
pub(crate) struct Endpoint {
    methods: Vec<DescribedMethod>,
    /// `true` if it does not require a key.
    pub is_public: bool,
}

struct DescribedMethod {
    method: Method,
    description: Option<Description>,
    /// The known query parameters. The first request with a query builds the description to find them.
    params: OnceLock<Vec<String>>,
}

impl Endpoints {
    pub fn new(functions: &[Routes]) -> Self {
        let mut endpoints = HashMap::new();
        for Routes { routes, is_public, .. } in functions {
            for route in routes {
                let new = || Endpoint { methods: Vec::new(), is_public: *is_public };
                let endpoint = endpoints.entry(route.path.clone()).or_insert_with(new);
                endpoint.methods.push(DescribedMethod::new(route));
                endpoint.methods.sort_by(|a, b| a.method.as_str().cmp(b.method.as_str()));
            }
        }
        Self(endpoints)
    }

    /// Finds the endpoint for a request; `None` for an unknown path.
    pub fn find(&self, request: &Request) -> Option<&Endpoint> {
        self.0.get(request.extensions().get::<MatchedPath>()?.as_str())
    }
}

impl Endpoint {
    pub fn takes_body(&self) -> bool {
        self.methods.iter().any(|it| it.method != Method::GET)
    }

    /// The value of the `Allow` header. The router uses the `GET` handler for `HEAD`, and `OPTIONS` needs no handler.
    pub fn allow(&self) -> HeaderValue {
        let names = self.methods.iter().map(|it| match it.method {
            Method::GET => "GET, HEAD",
            _ => it.method.as_str(),
        });
        let names: Vec<&str> = names.chain(["OPTIONS"]).collect();
        HeaderValue::try_from(names.join(", ")).expect("method names are valid in headers")
    }

    /// Rejects a method that the endpoint does not support.
    pub fn check_method(&self, request: &Request) -> Result<(), ApiError> {
        let method = request.method();
        if *method == Method::OPTIONS || self.find(method).is_some() {
            return Ok(());
        }
        let usage: Vec<&str> = self.methods.iter().map(|it| it.method.as_str()).collect();
        let (path, usage) = (quote(request.uri().path()), usage.join(" or "));
        let message = format!("{method} is not allowed on {path}; use {usage}");
        Err(ApiError::MethodNotAllowed { message, allow: self.allow() })
    }

    /// Rejects unknown parameters, so that a misspelled filter is not silently ignored.
    pub fn check_params(&self, request: &Request) -> Result<(), ApiError> {
        let Some(query) = request.uri().query() else { return Ok(()) };
        let Some(described) = self.find(request.method()) else { return Ok(()) };
        let known = described.params();
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        match names.find(|name| !known.iter().any(|param| param == name)) {
            Some(unknown) => Err(unknown_name("parameter", &unknown, "endpoint", known)),
            None => Ok(()),
        }
    }

    fn find(&self, method: &Method) -> Option<&DescribedMethod> {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        self.methods.iter().find(|it| it.method == *method)
    }
}

impl DescribedMethod {
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
