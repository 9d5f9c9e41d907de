//! A function's routes, and whether they require a key. All routes with the same path are an endpoint, whose methods
//! and parameters come from their descriptions.

use std::{
    collections::{BTreeSet, HashMap},
    panic::AssertUnwindSafe,
    sync::OnceLock,
};

use axum::{
    Router,
    extract::{MatchedPath, Request},
    handler::Handler,
    http::{HeaderValue, Method, Uri},
    response::{IntoResponse, Response},
    routing::{MethodRouter, on},
};
use futures_util::FutureExt;
use utoipa::{
    __dev::{SchemaReferences, Tags},
    Path,
    openapi::{
        ContentBuilder, HttpMethod, RefOr,
        path::{Operation, Parameter, ParameterIn},
        schema::{Object, Schema, Type},
    },
};
use utoipa_axum::PathItemExt;

use crate::{
    errors::{ApiError, quote},
    params::{API_KEY, unknown_name},
    state::App,
};

/// A handler with its path and method.
pub struct Route {
    /// In the router's syntax, where `{*tn}` matches the rest of a path.
    pub(crate) path: String,
    pub(crate) method: Method,
    handler: MethodRouter<App>,
    /// `None` if the route is not in the API description.
    pub(crate) description: Option<Description>,
    /// The known query parameters. The first request with a query builds the description to find them.
    params: OnceLock<Vec<String>>,
}

/// A route's part of the API description. Built only when needed, because all descriptions together would add 1.5 ms to
/// every start of a function.
#[derive(Clone, Copy)]
pub(crate) struct Description {
    operation: fn() -> Operation,
    pub schemas: fn(&mut Vec<(String, RefOr<Schema>)>),
    is_unversioned: bool,
}

/// Creates the [`Route`] of a handler with `#[utoipa::path]`, such as `route!(list)` or `route!(blocks::list_blocks)`.
#[macro_export]
macro_rules! route {
    ($handler:ident) => {
        $crate::routes::paste! {
            $crate::routes::Route::documented::<[<__path_ $handler>], _, _>($handler)
        }
    };
    ($module:ident :: $handler:ident) => {
        $crate::routes::paste! {
            $crate::routes::Route::documented::<$module::[<__path_ $handler>], _, _>(
                $module::$handler,
            )
        }
    };
}

#[doc(hidden)]
pub use utoipa_axum::paste;

impl Route {
    /// Creates the route of a handler whose description is `P`. Use [`route!`](crate::route), which finds `P`.
    /// Like `utoipa_axum::routes!`, this needs two hidden traits of utoipa.
    pub fn documented<P, H, T>(handler: H) -> Self
    where
        P: Path + SchemaReferences + for<'t> Tags<'t>,
        H: Handler<T, App>,
        T: 'static,
    {
        let operation = || {
            let mut operation = P::operation();
            let tags = P::tags().into_iter().map(ToString::to_string);
            operation.tags.get_or_insert_default().extend(tags);
            describe_csv(&mut operation);
            operation
        };
        let description = Description { operation, schemas: P::schemas, is_unversioned: false };
        let method = P::methods().swap_remove(0);
        let handler = on(method.to_method_filter(), handler);
        let method = if method == HttpMethod::Post { Method::POST } else { Method::GET };
        Self { description: Some(description), ..Self::new(method, P::path(), handler) }
    }

    /// Creates a `GET` route that is not in the API description.
    pub fn undocumented_get(path: &str, handler: MethodRouter<App>) -> Self {
        Self::new(Method::GET, path.to_owned(), handler)
    }

    /// Creates a `POST` route that is not in the API description.
    pub fn undocumented_post(path: &str, handler: MethodRouter<App>) -> Self {
        Self::new(Method::POST, path.to_owned(), handler)
    }

    fn new(method: Method, path: String, handler: MethodRouter<App>) -> Self {
        Self { path, method, handler, description: None, params: OnceLock::new() }
    }

    /// Returns the same route without the version prefix.
    pub fn unversioned(self) -> Self {
        let description = self.description.map(|it| Description { is_unversioned: true, ..it });
        Self { path: self.path.replacen("/v1", "", 1), description, ..self }
    }
}

/// Adds CSV to the response formats of a list with a `format` parameter.
fn describe_csv(operation: &mut Operation) {
    if !documented_params(operation).any(|param| param.name == "format") {
        return;
    }
    let text = ContentBuilder::new().schema(Some(Object::with_type(Type::String))).build();
    if let Some(RefOr::T(success)) = operation.responses.responses.get_mut("200") {
        success.content.entry("text/csv".to_owned()).or_insert(text.into());
    }
}

fn documented_params(operation: &Operation) -> impl Iterator<Item = &Parameter> {
    operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    })
}

impl Description {
    pub(crate) fn operation(&self) -> Operation {
        let mut operation = (self.operation)();
        if self.is_unversioned {
            let summary = operation.summary.take();
            operation.summary = summary.map(|it| format!("{it}, without the version prefix"));
            let id = operation.operation_id.take();
            operation.operation_id = id.map(|it| format!("{it}Unversioned"));
        }
        operation
    }
}

/// A function's routes. They require a key unless the routes are public.
pub struct Routes {
    pub(crate) routes: Vec<Route>,
    pub(crate) is_public: bool,
    pub(crate) preparation: fn(),
}

impl Routes {
    pub fn new(routes: impl Into<Vec<Route>>) -> Self {
        let routes = routes.into();
        Self { routes, is_public: false, preparation: || () }
    }

    /// Creates routes that do not require a key.
    pub fn public(routes: impl Into<Vec<Route>>) -> Self {
        Self { is_public: true, ..Self::new(routes) }
    }

    /// Sets a function to call while the dataset loads.
    pub fn with_preparation(self, preparation: fn()) -> Self {
        Self { preparation, ..self }
    }

    pub fn require_key(&self) -> bool {
        !self.is_public
    }

    /// The paths in the router's syntax, where `{*tn}` matches the rest of a path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let paths: BTreeSet<_> = self.routes.iter().map(|route| route.path.as_str()).collect();
        paths.into_iter()
    }

    /// The paths of routes that are not in the API description.
    pub fn undocumented_paths(&self) -> Vec<&str> {
        let undocumented = self.routes.iter().filter(|route| route.description.is_none());
        undocumented.map(|route| route.path.as_str()).collect()
    }

    pub(crate) fn router(&self) -> Router<App> {
        let add = |router: Router<App>, Route { path, handler, .. }: &Route| {
            router.route(path, handler.clone())
        };
        self.routes.iter().fold(Router::new(), add)
    }
}

/// All endpoints, by path in the router's syntax.
pub(crate) struct Endpoints(HashMap<String, Endpoint>);

/// The routes of one path.
pub(crate) struct Endpoint {
    /// Ordered by method.
    routes: Vec<Route>,
    /// `true` if the endpoint does not require a key.
    pub is_public: bool,
}

impl Endpoints {
    pub fn new(functions: Vec<Routes>) -> Self {
        let mut endpoints = HashMap::new();
        for Routes { routes, is_public, .. } in functions {
            for route in routes {
                let new = || Endpoint { routes: Vec::new(), is_public };
                let endpoint = endpoints.entry(route.path.clone()).or_insert_with(new);
                endpoint.routes.push(route);
                endpoint.routes.sort_by(|a, b| a.method.as_str().cmp(b.method.as_str()));
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
        self.routes.iter().any(|route| route.method != Method::GET)
    }

    /// The value of the `Allow` header. The router uses the `GET` handler for `HEAD`, and `OPTIONS` has no handler.
    pub fn allow(&self) -> HeaderValue {
        let names = self.routes.iter().map(|route| match route.method {
            Method::GET => "GET, HEAD",
            _ => route.method.as_str(),
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
        let usage: Vec<&str> = self.routes.iter().map(|route| route.method.as_str()).collect();
        let (path, usage) = (quote(request.uri().path()), usage.join(" or "));
        let message = format!("{method} is not allowed on {path}; use {usage}");
        Err(ApiError::MethodNotAllowed { message, allow: self.allow() })
    }

    /// Rejects unknown parameters, so that a misspelled filter is not silently ignored.
    pub fn check_params(&self, request: &Request) -> Result<(), ApiError> {
        let Some(query) = request.uri().query() else { return Ok(()) };
        let Some(route) = self.find(request.method()) else { return Ok(()) };
        let known = route.params.get_or_init(|| {
            let operation = route.description.map(|it| it.operation());
            let params = operation.iter().flat_map(documented_params);
            let in_query = params.filter(|param| param.parameter_in == ParameterIn::Query);
            in_query.map(|param| param.name.clone()).chain([API_KEY.to_owned()]).collect()
        });
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        match names.find(|name| !known.iter().any(|param| param == name)) {
            Some(unknown) => Err(unknown_name("parameter", &unknown, "endpoint", known)),
            None => Ok(()),
        }
    }

    fn find(&self, method: &Method) -> Option<&Route> {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().find(|route| route.method == *method)
    }
}

/// The error for an unknown path. If only the NXX is missing, the message shows the correct path.
pub(crate) async fn endpoint_not_found(uri: Uri) -> ApiError {
    let path = uri.path().trim_end_matches('/');
    match path.strip_prefix("/v1/npa/").and_then(|rest| rest.split_once('/')) {
        Some((_, "nxx")) => {
            ApiError::invalid_param("nxx", "nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>")
        }
        _ => ApiError::not_found(format!("Endpoint not found: {}", quote(uri.path()))),
    }
}

/// Returns the handler's response, or an internal error if the handler panics. The panic message is not logged, because
/// it may quote the request. The panic hook logs the location.
pub(crate) async fn catch_panic(handler: impl Future<Output = Response>) -> Response {
    AssertUnwindSafe(handler).catch_unwind().await.unwrap_or_else(|_message| {
        tracing::error!("a handler panicked");
        ApiError::Internal.into_response()
    })
}
