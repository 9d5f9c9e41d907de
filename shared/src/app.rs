//! Builds the service around a function's routes, and runs it.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Router,
    extract::{Request as HttpRequest, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use lambda_http::{Error, Request, Service, tower::ServiceExt};
use logging::with_causes;
use store::{Store, TimeoutProfile};
use tokio::runtime::Builder;
use utoipa::openapi::{Components, OpenApi, OpenApiBuilder, Paths};

use crate::{
    config::Config,
    endpoints::Endpoints,
    gateway::restore_path,
    http::ignore_trailing_slashes,
    lambda::{buffered_response, extension},
    respond::respond,
    routes::{Routes, endpoint_not_found},
    state::App,
    telemetry::observe,
};

/// Builds a service with the routes of `functions`, and a JSON 404 for any other path.
pub fn service(functions: impl IntoIterator<Item = Routes>, app: App) -> Router {
    let functions: Vec<Routes> = functions.into_iter().collect();
    let paths: Vec<String> = functions.iter().flat_map(Routes::paths).map(str::to_owned).collect();
    let rules = Arc::new((app.clone(), Endpoints::new(&functions)));
    let router = functions
        .into_iter()
        .fold(Router::new(), |service, routes| service.merge(routes.into_router()))
        .fallback(endpoint_not_found)
        .with_state(app);
    ignore_trailing_slashes(router.layer(from_fn_with_state(rules, handle)), paths)
}

/// The only layer around the routes, since each layer clones all inner ones for every request.
async fn handle(
    State(rules): State<Arc<(App, Endpoints)>>,
    request: HttpRequest,
    next: Next,
) -> Response {
    let (app, endpoints) = &*rules;
    observe(app, request, |request| respond(app, endpoints, request, next)).await
}

pub fn openapi(functions: impl IntoIterator<Item = Routes>) -> OpenApi {
    let (mut paths, mut schemas) = (Paths::new(), Vec::new());
    for route in functions.into_iter().flat_map(|function| function.routes) {
        if let Some(description) = route.description {
            // OpenAPI does not have parameters that match the rest of a path.
            let path = route.path.replace("{*", "{");
            paths.add_path_operation(path, vec![route.method], description.operation());
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
/// A single thread is fastest for one request at a time. If Lambda sends several at once, there is one thread per
/// processor.
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

/// Loads the dataset, prepares the routes and registers the extension concurrently before requesting the first
/// invocation. Public routes need none of that.
async fn run(routes: Routes, config: Config) -> Result<(), Error> {
    let app = App::new(Store::from_env(TimeoutProfile::Request), config);
    if !routes.require_key() {
        return lambda_http::run_concurrent(lambda(routes, app).then(buffered_response::read))
            .await;
    }
    let (dataset, quotas) = (Arc::clone(&app.dataset), Arc::clone(&app.quotas));
    let may_freeze = !app.config.has_concurrent_requests;
    let prepared = tokio::task::spawn_blocking(routes.preparation);
    let loaded = tokio::spawn(async move {
        if let Err(error) = dataset.get().await {
            tracing::error!(error = with_causes(&error), "starting without a dataset");
        }
    });
    // Starts the manifest read, so it is in flight while the routes are built.
    tokio::task::yield_now().await;
    let ready = async { tokio::try_join!(loaded, prepared).map(|_| ()).map_err(Error::from) };
    let function = lambda(routes, app).then(buffered_response::read);
    extension::run(function, quotas, may_freeze, ready).await
}

/// Builds the service for a Lambda function behind API Gateway.
pub fn lambda(
    routes: Routes,
    app: App,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send {
    service([routes], app).map_request(restore_path)
}
