//! A function's routes, and whether they require a key.

use std::{collections::BTreeSet, panic::AssertUnwindSafe};

use axum::{
    Router,
    handler::Handler,
    http::Uri,
    response::{IntoResponse, Response},
    routing::{MethodRouter, on},
};
use futures_util::FutureExt;
use utoipa::{
    __dev::{SchemaReferences, Tags},
    Path,
    openapi::{HttpMethod, RefOr, path::Operation, schema::Schema},
};
use utoipa_axum::PathItemExt;

use crate::{
    errors::{ApiError, quote},
    state::App,
};

/// A handler with its path and method.
pub struct Route {
    /// In the router's syntax, where `{*tn}` matches the rest of a path.
    pub(crate) path: String,
    pub(crate) method: HttpMethod,
    pub(crate) handler: MethodRouter<App>,
    /// `None` if the route is not in the API description.
    pub(crate) description: Option<Description>,
}

/// A route's part of the API description. It is built only on request, since all of them would add 1.5 ms to every
/// start of a function.
#[derive(Clone, Copy)]
pub(crate) struct Description {
    operation: fn() -> Operation,
    pub schemas: fn(&mut Vec<(String, RefOr<Schema>)>),
    is_unversioned: bool,
}

/// The [`Route`] of a handler with `#[utoipa::path]`, such as `route!(list)` or `route!(blocks::list_blocks)`.
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
    /// Creates the route of a handler whose description is `P`. Use [`route!`](crate::route), which finds `P`. Like
    /// `utoipa_axum::routes!`, this needs two hidden traits of utoipa.
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
            operation
        };
        let description = Description { operation, schemas: P::schemas, is_unversioned: false };
        let method = P::methods().swap_remove(0);
        let handler = on(method.to_method_filter(), handler);
        Self { path: P::path(), method, handler, description: Some(description) }
    }

    /// Creates a `GET` route that is not in the API description.
    pub fn undocumented_get(path: &str, handler: MethodRouter<App>) -> Self {
        Self { path: path.to_owned(), method: HttpMethod::Get, handler, description: None }
    }

    /// Creates a `POST` route that is not in the API description.
    pub fn undocumented_post(path: &str, handler: MethodRouter<App>) -> Self {
        Self { path: path.to_owned(), method: HttpMethod::Post, handler, description: None }
    }

    /// Returns the same route without the version prefix.
    pub fn unversioned(self) -> Self {
        let description = self.description.map(|it| Description { is_unversioned: true, ..it });
        Self { path: self.path.replacen("/v1", "", 1), description, ..self }
    }
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

/// A function's routes. They require a key unless they are public.
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

    /// Sets a function to call while the dataset is loading.
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

    pub(crate) fn into_router(self) -> Router<App> {
        let routes = self.routes.into_iter();
        routes.fold(Router::new(), |router, route| router.route(&route.path, route.handler))
    }
}

/// The error for an unknown path. If only the NXX is missing, the message shows the usage.
pub(crate) async fn endpoint_not_found(uri: Uri) -> ApiError {
    let path = uri.path().trim_end_matches('/');
    match path.strip_prefix("/v1/npa/").and_then(|rest| rest.split_once('/')) {
        Some((_, "nxx")) => ApiError::invalid("nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>"),
        _ => ApiError::not_found(format!("Endpoint not found: {}", quote(uri.path()))),
    }
}

/// Returns the handler's response, or an internal error if it panics. The message is not logged, since it may
/// quote the request. The panic hook logs the location.
pub(crate) async fn catch_panic(handler: impl Future<Output = Response>) -> Response {
    AssertUnwindSafe(handler).catch_unwind().await.unwrap_or_else(|_message| {
        tracing::error!("a handler panicked");
        ApiError::Internal.into_response()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_path_without_its_nxx_is_not_an_unknown_endpoint() {
        for (path, message) in [
            ("/v1/npa/415/nxx/", "nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>"),
            ("/v1/npa/415/nxy", "Endpoint not found: /v1/npa/415/nxy"),
        ] {
            assert_eq!(endpoint_not_found(path.parse().unwrap()).await.to_string(), message);
        }
    }

    #[test]
    fn an_unversioned_route_has_a_description_of_its_own() {
        #[utoipa::path(get, path = "/v1/stats", summary = "Get statistics", responses((status = 200)))]
        async fn stats() {}

        let route = route!(stats).unversioned();
        assert_eq!(route.path, "/stats");
        let operation = route.description.unwrap().operation();
        assert_eq!(operation.operation_id.as_deref(), Some("statsUnversioned"));
        let summary = operation.summary.unwrap();
        assert_eq!(summary, "Get statistics, without the version prefix");
    }
}
