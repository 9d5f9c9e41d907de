//! A function's routes, and how they admit requests.

use std::panic::AssertUnwindSafe;

use axum::{
    http::Uri,
    response::{IntoResponse, Response},
    routing::MethodRouter,
};
use futures_util::FutureExt;
use utoipa::openapi::{HttpMethod, OpenApi, PathItem, path::Operation};
use utoipa_axum::router::OpenApiRouter;

use crate::{errors::ApiError, state::App};

/// The routes of one function. They require a key unless declared public.
pub struct Routes {
    pub(crate) router: OpenApiRouter<App>,
    /// Routes that the API description omits, with only their methods.
    undescribed: OpenApi,
    is_public: bool,
    pub(crate) preparation: fn(),
    counted_by_items: &'static [&'static str],
}

impl From<OpenApiRouter<App>> for Routes {
    fn from(router: OpenApiRouter<App>) -> Self {
        Self {
            router,
            undescribed: OpenApi::default(),
            is_public: false,
            preparation: || (),
            counted_by_items: &[],
        }
    }
}

impl Routes {
    /// Routes that need no key.
    pub fn public(router: OpenApiRouter<App>) -> Self {
        Self { is_public: true, ..Self::from(router) }
    }

    /// Adds a browser route that the API description omits.
    pub fn with_undescribed(self, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.and_undescribed(HttpMethod::Get, path, handler)
    }

    /// Adds a `POST` route that the API description omits.
    pub fn with_undescribed_post(self, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.and_undescribed(HttpMethod::Post, path, handler)
    }

    fn and_undescribed(
        mut self,
        method: HttpMethod,
        path: &'static str,
        handler: MethodRouter<App>,
    ) -> Self {
        let item = PathItem::new(method, Operation::new());
        self.undescribed.paths.paths.insert(path.to_owned(), item);
        Self { router: self.router.route(path, handler), ..self }
    }

    /// Sets a `preparation` that a Lambda function runs while it loads the dataset.
    pub fn prepared_by(self, preparation: fn()) -> Self {
        Self { preparation, ..self }
    }

    /// A `POST` to one of these paths counts as many requests as its handler charges. If it is rejected
    /// earlier, it counts as one.
    pub fn counted_by_items(self, counted_by_items: &'static [&'static str]) -> Self {
        Self { counted_by_items, ..self }
    }

    /// Returns `true` if requests need a key.
    pub fn need_key(&self) -> bool {
        !self.is_public
    }

    /// The paths as the router writes them: `{*tn}` matches the rest of a path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.descriptions().into_iter().flat_map(paths_of)
    }

    /// The paths of routes that the API description omits.
    pub fn undescribed_paths(&self) -> Vec<&str> {
        paths_of(&self.undescribed).collect()
    }

    /// The route descriptions: those in the API description, then the others.
    pub(crate) fn descriptions(&self) -> [&OpenApi; 2] {
        [self.router.get_openapi(), &self.undescribed]
    }

    /// The admission of requests to this path.
    pub(crate) fn admission(&self, path: &str) -> Admission {
        if self.is_public {
            Admission::Public
        } else if self.counted_by_items.contains(&path) {
            Admission::CountedByItems
        } else {
            Admission::Counted
        }
    }
}

/// How a route admits requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Without a key.
    Public,
    /// With a key, and counted as one request.
    Counted,
    /// With a key. A `POST` is counted by its handler, as one request per item in its body.
    CountedByItems,
}

/// The paths of the described routes.
fn paths_of(description: &OpenApi) -> impl Iterator<Item = &str> {
    description.paths.paths.keys().map(String::as_str)
}

/// The error for an unknown path. A path that is only missing an exchange's code gets usage instead.
pub(crate) async fn endpoint_not_found(uri: Uri) -> ApiError {
    let path = uri.path().trim_end_matches('/');
    match path.strip_prefix("/v1/npa/").and_then(|rest| rest.split_once('/')) {
        Some((_, "nxx")) => ApiError::invalid("nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>"),
        _ => ApiError::no_endpoint(&uri),
    }
}

/// The response of a handler, or an internal error if it panics. The panic message may quote the request, so it
/// is not logged. The panic hook logs its location.
pub(crate) async fn catch_panic(handler: impl Future<Output = Response>) -> Response {
    AssertUnwindSafe(handler).catch_unwind().await.unwrap_or_else(|_message| {
        tracing::error!("a handler panicked");
        ApiError::Internal.into_response()
    })
}
