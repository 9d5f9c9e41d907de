//! Wraps the routes of a function, with or without authentication, and runs them.

use std::{any::Any, convert::Infallible, sync::Arc};

use axum::{
    Router,
    extract::{Request as AxumRequest, State},
    http::{HeaderValue, Uri, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::MethodRouter,
};
use lambda_http::{Error, Request, Service, tower::ServiceExt};
use logging::with_causes;
use store::{Store, TimeoutProfile};
use tokio::runtime::Builder;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::{HttpMethod, OpenApi, PathItem, path::Operation};
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::{
        middleware::{Admission, admit},
        origin_secrets::require_secret,
    },
    errors::ApiError,
    extension::{self, takes_several_requests},
    gateway::{prefix_links, restore_path},
    http::{ignore_trailing_slashes, methods::Methods, with_rules_of_http},
    state::App,
    telemetry,
    unknown_params::KnownParams,
    whole_response,
};

/// The routes of one function. They need a key unless they are declared public.
pub struct Routes {
    router: OpenApiRouter<App>,
    /// The routes that the description of the API leaves out, with no more than their methods.
    undescribed: OpenApi,
    access: Access,
    preparation: fn(),
    counted_by_items: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Protected,
    Public,
}

impl From<OpenApiRouter<App>> for Routes {
    fn from(router: OpenApiRouter<App>) -> Self {
        Self {
            router,
            undescribed: OpenApi::default(),
            access: Access::Protected,
            preparation: || (),
            counted_by_items: &[],
        }
    }
}

impl Routes {
    /// Routes that can be called without a key.
    pub fn public(router: OpenApiRouter<App>) -> Self {
        Self { access: Access::Public, ..Self::from(router) }
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

    /// Whether requests are admitted by a key.
    pub fn need_key(&self) -> bool {
        self.access == Access::Protected
    }

    /// The paths of the routes as the router writes them: `{*tn}` matches the rest of a path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.descriptions().into_iter().flat_map(paths_of)
    }

    /// The paths of the routes that the description of the API leaves out.
    pub fn undescribed_paths(&self) -> Vec<&str> {
        paths_of(&self.undescribed).collect()
    }

    /// What is known of the routes: of those in the description of the API, and of the others.
    fn descriptions(&self) -> [&OpenApi; 2] {
        [self.router.get_openapi(), &self.undescribed]
    }

    /// A router that admits every request, for those that come from within the process.
    pub(crate) fn into_unguarded_router(self) -> Router<App> {
        self.router.into()
    }

    /// A router that admits requests: with a key and known parameters if the routes are protected.
    fn into_router(self, app: &App, methods: &Methods) -> Router<App> {
        let methods = methods.clone();
        match self.access {
            Access::Protected => {
                let known_params = KnownParams::of(self.descriptions());
                let (app, counted_by_items) = (app.clone(), self.counted_by_items);
                let admission = Admission { app, known_params, methods, counted_by_items };
                Router::from(self.router)
                    .route_layer(from_fn_with_state(Arc::new(admission), admit))
            }
            Access::Public => {
                Router::from(self.router).route_layer(from_fn_with_state(methods, admit_anybody))
            }
        }
    }
}

/// The paths of the routes that are described.
fn paths_of(description: &OpenApi) -> impl Iterator<Item = &str> {
    description.paths.paths.keys().map(String::as_str)
}

/// A service that answers the routes of `functions`, and any other path with a 404 in JSON.
pub fn service(functions: impl IntoIterator<Item = Routes>, app: App) -> Router {
    let functions: Vec<Routes> = functions.into_iter().collect();
    let paths: Vec<String> = functions.iter().flat_map(Routes::paths).map(str::to_owned).collect();
    let methods = Methods::of(functions.iter().flat_map(Routes::descriptions));
    let router = functions
        .into_iter()
        .fold(Router::new(), |service, routes| service.merge(routes.into_router(&app, &methods)))
        .fallback(endpoint_not_found)
        .with_state(app.clone());
    let router = answer_panics(router);
    let with_rules = with_rules_of_http(router, &app.allowed_origins, methods);
    let observed =
        behind_secret(with_rules, &app).layer(from_fn_with_state(app.observer, telemetry::observe));
    ignore_trailing_slashes(observed, paths)
}

/// The router behind the secret of the origin, if there is one.
fn behind_secret(router: Router, app: &App) -> Router {
    if app.origin_secrets.to_send().is_none() {
        return router;
    }
    let state = (app.origin_secrets.clone(), app.allowed_origins.clone());
    router.layer(from_fn_with_state(state, require_secret))
}

/// The OpenAPI description of the routes of `functions`.
pub fn openapi(functions: impl IntoIterator<Item = Routes>) -> OpenApi {
    let mut description = functions
        .into_iter()
        .fold(OpenApiRouter::<App>::default(), |merged, routes| merged.merge(routes.router))
        .into_openapi();
    let paths = std::mem::take(&mut description.paths.paths);
    // OpenAPI has no parameter that matches the rest of a path.
    description.paths.paths =
        paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    description
}

/// Runs the routes of a function on Lambda until the container ends. `main` calls this.
///
/// A container has one request at a time, which is quickest on a single thread: nothing is handed
/// from one thread to another. Only where Lambda gives it several at once, there is a thread for each
/// processor.
pub fn start(routes: fn() -> Routes) -> Result<(), Error> {
    let mut threads = if takes_several_requests() {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    threads.enable_all().build()?.block_on(run(routes()))
}

/// What the first request needs is prepared before it is asked for, side by side: the dataset, which
/// answers lists, and lookups while DynamoDB does not answer; the preparation of the routes; and the
/// extension that writes usage. Public routes need none of it.
async fn run(routes: Routes) -> Result<(), Error> {
    logging::log_as_json();
    let app = App::on(Store::from_env(TimeoutProfile::Request));
    if routes.access == Access::Public {
        return lambda_http::run_concurrent(lambda(routes, app).then(whole_response::read)).await;
    }
    let (dataset, quotas) = (Arc::clone(&app.dataset), Arc::clone(&app.quotas));
    let prepared = tokio::task::spawn_blocking(routes.preparation);
    let loaded = tokio::spawn(async move {
        if let Err(error) = dataset.get().await {
            tracing::error!(error = with_causes(&error), "starting without a dataset");
        }
    });
    // The manifest is asked for now, and on its way while the routes are put together.
    tokio::task::yield_now().await;
    let ready = async { tokio::try_join!(loaded, prepared).map(|_| ()).map_err(Error::from) };
    extension::run(lambda(routes, app).then(whole_response::read), quotas, ready).await
}

/// The service that a Lambda function runs: `routes` behind API Gateway.
pub fn lambda(
    routes: Routes,
    app: App,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send {
    service([routes], app).layer(from_fn(prefix_links)).map_request(restore_path)
}

/// Lets caches store public responses for a minute, since they are the same for every client, unless
/// the handler decides otherwise.
async fn admit_anybody(
    State(methods): State<Methods>,
    request: AxumRequest,
    next: Next,
) -> Result<Response, ApiError> {
    methods.check(&request)?;
    let mut response = next.run(request).await;
    let policy = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(policy);
    Ok(response)
}

/// What a path without an endpoint is answered. One ends where the code of an exchange belongs, and is told
/// how to give it.
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
