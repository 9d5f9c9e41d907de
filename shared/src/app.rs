//! Builds the service around a function's routes, and runs it.

use std::{collections::BTreeSet, convert::Infallible, env, sync::Arc};

use axum::{
    Router,
    extract::{Request as HttpRequest, State},
    http::{Method, Uri},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use lambda_http::{Error, Request, Service, tower::ServiceExt};
use logging::with_causes;
use store::{Store, TimeoutProfile};
use tokio::runtime::Builder;
use utoipa::openapi::{Components, HttpMethod, OpenApi, OpenApiBuilder, Paths};

use crate::{
    config::Config,
    export::Exporter,
    gateway::{restore_path, with_path_and_query},
    lambda::{self, buffered},
    not_found::not_found,
    respond::respond,
    routes::{Endpoints, Routes},
    state::App,
    telemetry::observe,
};

/// Builds a service with the routes of `functions`, and a 404 for any other path.
pub fn service(functions: impl IntoIterator<Item = Routes>, app: App) -> Router {
    let functions: Vec<Routes> = functions.into_iter().collect();
    let paths: Vec<String> = functions.iter().flat_map(Routes::paths).map(str::to_owned).collect();
    let router = functions.iter().fold(Router::new(), |it, routes| it.merge(routes.router()));
    let router = router.fallback(not_found).with_state(app.clone());
    let rules = Arc::new((app, Endpoints::new(functions)));
    ignore_trailing_slashes(router.layer(from_fn_with_state(rules, handle)), paths)
}

/// The only layer around the routes, because each layer clones all inner ones for every request.
async fn handle(
    State(rules): State<Arc<(App, Endpoints)>>,
    request: HttpRequest,
    next: Next,
) -> Response {
    let (app, endpoints) = &*rules;
    let function = app.config.function.as_deref();
    let respond = |request| respond(app, endpoints, request, next);
    observe(app.observer.as_ref(), &app.exporter, function, request, respond).await
}

pub fn openapi(functions: impl IntoIterator<Item = Routes>) -> OpenApi {
    let (mut paths, mut schemas) = (Paths::new(), Vec::new());
    for route in functions.into_iter().flat_map(|function| function.routes) {
        if let Some(description) = route.description {
            // OpenAPI has no syntax for parameters that match the rest of a path.
            let path = route.path.replace("{*", "{");
            let is_post = route.method == Method::POST;
            let method = if is_post { HttpMethod::Post } else { HttpMethod::Get };
            paths.add_path_operation(path, vec![method], description.operation());
            (description.schemas)(&mut schemas);
        }
    }
    let mut components = Components::new();
    for (name, schema) in schemas {
        let other = components.schemas.insert(name.clone(), schema.clone());
        assert!(other.is_none_or(|other| other == schema), "two types have the name {name}");
    }
    OpenApiBuilder::new().paths(paths).components(Some(components)).build()
}

/// Runs a function on Lambda until the container shuts down.
///
/// Uses a single thread, which is fastest for one request at a time. If Lambda sends several at once, uses one
/// thread per processor.
pub fn start(routes: fn() -> Routes) -> Result<(), Error> {
    logging::init_json_logs();
    let config = Config::from_env();
    let mut threads = if config.has_concurrent_requests {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    threads.enable_all().build()?.block_on(run(routes(), config))
}

/// Loads the dataset, prepares the routes and registers the extension concurrently, then requests the first
/// invocation. Public routes skip the first two.
async fn run(routes: Routes, config: Config) -> Result<(), Error> {
    let mut app = App::new(Store::from_env(TimeoutProfile::Request), config);
    let function = app.config.function.as_deref();
    app.exporter = Arc::new(Exporter::new(function, |name| env::var(name).ok()));
    if !routes.require_key() {
        let function = lambda(routes, app.clone()).then(buffered);
        if app.exporter.is_enabled() {
            return lambda::run(function, app, async { Ok(()) }).await;
        }
        return lambda_http::run_concurrent(function).await;
    }
    let dataset = Arc::clone(&app.dataset);
    let prepared = tokio::task::spawn_blocking(routes.preparation);
    let loaded = tokio::spawn(async move {
        if let Err(error) = dataset.get().await {
            tracing::error!(error = with_causes(&error), "starting without a dataset");
        }
    });
    // Starts the manifest read, so it is in flight while the routes are built.
    tokio::task::yield_now().await;
    let ready = async { tokio::try_join!(loaded, prepared).map(|_| ()).map_err(Error::from) };
    let function = lambda(routes, app.clone()).then(buffered);
    lambda::run(function, app, ready).await
}

/// Builds the service for a Lambda function behind API Gateway.
pub fn lambda(
    routes: Routes,
    app: App,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send {
    service([routes], app).map_request(restore_path)
}

/// Wraps `router` to ignore a trailing slash after `paths` without parameters. A layer on the
/// router would run after routing.
fn ignore_trailing_slashes(router: Router, paths: impl IntoIterator<Item = String>) -> Router {
    let literal_paths: Arc<BTreeSet<String>> =
        Arc::new(paths.into_iter().filter(|path| !path.contains('{')).collect());
    let without_slash = move |mut request: HttpRequest| {
        if let Some(uri) = uri_without_slash(request.uri(), &literal_paths) {
            *request.uri_mut() = uri;
        }
        request
    };
    Router::new().fallback_service(router.map_request(without_slash))
}

/// The URI without its path's trailing slash; `None` unless that path is in `literal_paths`.
fn uri_without_slash(uri: &Uri, literal_paths: &BTreeSet<String>) -> Option<Uri> {
    let path = uri.path().strip_suffix('/').filter(|path| literal_paths.contains(*path))?;
    with_path_and_query(uri, &format!("{path}?{}", uri.query().unwrap_or_default()))
}
