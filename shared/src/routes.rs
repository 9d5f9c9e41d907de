//! The routes of a function, and how they admit requests.

use std::{any::Any, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::MethodRouter,
};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::{HttpMethod, OpenApi, PathItem, path::Operation};
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::middleware::{Admission, admit},
    described_routes::DescribedRoutes,
    errors::ApiError,
    state::App,
};

/// The routes of one function. They need a key unless they are declared public.
pub struct Routes {
    pub(crate) router: OpenApiRouter<App>,
    /// The routes that the description of the API leaves out, with no more than their methods.
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
    /// Routes that can be called without a key.
    pub fn public(router: OpenApiRouter<App>) -> Self {
        Self { is_public: true, ..Self::from(router) }
    }

    /// The same routes and one for browsers, which the description of the API leaves out.
    pub fn with_undescribed(self, path: &'static str, handler: MethodRouter<App>) -> Self {
        self.and_undescribed(HttpMethod::Get, path, handler)
    }

    /// The same routes and one that answers `POST`, which the description of the API leaves out.
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

    /// The same routes, for which a Lambda function calls `preparation` while it loads the dataset.
    pub fn prepared_by(self, preparation: fn()) -> Self {
        Self { preparation, ..self }
    }

    /// The same routes, of which a `POST` to one of these paths counts as many requests as its handler
    /// charges. A request that is refused before counts as one.
    pub fn counted_by_items(self, counted_by_items: &'static [&'static str]) -> Self {
        Self { counted_by_items, ..self }
    }

    /// Returns `true` if requests are admitted by a key.
    pub fn need_key(&self) -> bool {
        !self.is_public
    }

    /// The paths of the routes as the router writes them: `{*tn}` matches the rest of a path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.descriptions().into_iter().flat_map(paths_of)
    }

    /// The paths of the routes that the description of the API leaves out.
    pub fn undescribed_paths(&self) -> Vec<&str> {
        paths_of(&self.undescribed).collect()
    }

    /// The descriptions of the routes: of those in the description of the API, and of the others.
    pub(crate) fn descriptions(&self) -> [&OpenApi; 2] {
        [self.router.get_openapi(), &self.undescribed]
    }

    /// A router that admits every request, for those that come from within the process.
    pub(crate) fn into_unguarded_router(self) -> Router<App> {
        self.router.into()
    }

    /// A router that admits requests: with a key and known parameters if the routes are protected.
    pub(crate) fn into_router(self, app: &App, described: &DescribedRoutes) -> Router<App> {
        let described = described.clone();
        if self.is_public {
            return Router::from(self.router)
                .route_layer(from_fn_with_state(described, admit_anybody));
        }
        let (app, counted_by_items) = (app.clone(), self.counted_by_items);
        let admission = Admission { app, described, counted_by_items };
        Router::from(self.router).route_layer(from_fn_with_state(Arc::new(admission), admit))
    }
}

/// The paths of the routes that are described.
fn paths_of(description: &OpenApi) -> impl Iterator<Item = &str> {
    description.paths.paths.keys().map(String::as_str)
}

/// Lets caches store public responses for a minute, since they are the same for every client, unless
/// the handler decides otherwise.
async fn admit_anybody(
    State(described): State<DescribedRoutes>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    described.check_method(&request)?;
    let mut response = next.run(request).await;
    let policy = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(policy);
    Ok(response)
}

/// The answer for a path without an endpoint. A path that ends where the code of an exchange belongs gets
/// its usage.
pub(crate) async fn endpoint_not_found(uri: Uri) -> ApiError {
    let path = uri.path().trim_end_matches('/');
    match path.strip_prefix("/v1/npa/").and_then(|rest| rest.split_once('/')) {
        Some((_, "nxx")) => ApiError::invalid("nxx is required. Usage: /v1/npa/<NPA>/nxx/<NXX>"),
        _ => ApiError::no_endpoint(&uri),
    }
}

/// The router, which answers a request whose handler panics.
pub(crate) fn answer_panics(router: Router) -> Router {
    router.layer(CatchPanicLayer::custom(internal_error))
}

/// The response to a request whose handler panicked. The message of the panic is not logged, since
/// it may quote the request; its place is logged by the panic hook.
fn internal_error(_message: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    ApiError::Internal.into_response()
}
