//! A function's routes, and whether they require a key.

use std::panic::AssertUnwindSafe;

use axum::{
    http::Uri,
    response::{IntoResponse, Response},
    routing::MethodRouter,
};
use futures_util::FutureExt;
use utoipa::openapi::{HttpMethod, OpenApi, PathItem, path::Operation};
use utoipa_axum::router::OpenApiRouter;

use crate::{
    errors::{ApiError, quote},
    state::App,
};

/// A function's routes. They require a key unless they are public.
pub struct Routes {
    pub(crate) router: OpenApiRouter<App>,
    /// The methods of routes that are not in the API description.
    undocumented: OpenApi,
    is_public: bool,
    pub(crate) preparation: fn(),
    counted_per_item: &'static [&'static str],
}

impl From<OpenApiRouter<App>> for Routes {
    fn from(router: OpenApiRouter<App>) -> Self {
        Self {
            router,
            undocumented: OpenApi::default(),
            is_public: false,
            preparation: || (),
            counted_per_item: &[],
        }
    }
}

impl Routes {
    /// Creates routes that do not require a key.
    pub fn public(router: OpenApiRouter<App>) -> Self {
        Self { is_public: true, ..Self::from(router) }
    }

    /// Adds a `GET` route that is not in the API description.
    pub fn with_undocumented_get(self, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.add_undocumented(HttpMethod::Get, path, handler)
    }

    /// Adds a `POST` route that is not in the API description.
    pub fn with_undocumented_post(self, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.add_undocumented(HttpMethod::Post, path, handler)
    }

    fn add_undocumented(
        mut self,
        method: HttpMethod,
        path: &'static str,
        handler: MethodRouter<App>,
    ) -> Self {
        let item = PathItem::new(method, Operation::new());
        self.undocumented.paths.paths.insert(path.to_owned(), item);
        Self { router: self.router.route(path, handler), ..self }
    }

    /// Sets a function to call while the dataset is loading.
    pub fn with_preparation(self, preparation: fn()) -> Self {
        Self { preparation, ..self }
    }

    /// Sets the paths whose `POST` handlers charge one request per item in the body. A request that is rejected
    /// before that counts as one.
    pub fn count_per_item(self, paths: &'static [&'static str]) -> Self {
        Self { counted_per_item: paths, ..self }
    }

    pub fn require_key(&self) -> bool {
        !self.is_public
    }

    /// The paths in the router's syntax, where `{*tn}` matches the rest of a path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.descriptions().into_iter().flat_map(paths_in)
    }

    /// The paths of routes that are not in the API description.
    pub fn undocumented_paths(&self) -> Vec<&str> {
        paths_in(&self.undocumented).collect()
    }

    /// The routes in the API description, then the others.
    pub(crate) fn descriptions(&self) -> [&OpenApi; 2] {
        [self.router.get_openapi(), &self.undocumented]
    }

    pub(crate) fn admission(&self, path: &str) -> Admission {
        if self.is_public {
            Admission::Public
        } else if self.counted_per_item.contains(&path) {
            Admission::CountedPerItem
        } else {
            Admission::Counted
        }
    }
}

/// A route's key requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// No key is required.
    Public,
    /// A key is required, and each request counts once.
    Counted,
    /// A key is required, and a `POST` counts once per item in its body.
    CountedPerItem,
}

fn paths_in(description: &OpenApi) -> impl Iterator<Item = &str> {
    description.paths.paths.keys().map(String::as_str)
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
