//! Wraps a function's routes, with or without authentication, and runs them.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    response::Response,
};
use lambda_http::{Error, Request, Service, tower::ServiceExt};
use logging::with_causes;
use store::{Store, TimeoutProfile};
use tokio::runtime::Builder;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::origin_secrets::require_secret,
    described_routes::DescribedRoutes,
    http::{http_layers, ignore_trailing_slashes},
    lambda::{
        buffered_response,
        extension::{self, takes_several_requests},
        gateway::{prefix_links, restore_path},
    },
    routes::{answer_panics, endpoint_not_found},
    state::App,
    telemetry,
};

pub use crate::routes::Routes;

/// A service that serves the routes of `functions`, with a JSON 404 for any other path.
pub fn service(functions: impl IntoIterator<Item = Routes>, app: App) -> Router {
    let functions: Vec<Routes> = functions.into_iter().collect();
    let paths: Vec<String> = functions.iter().flat_map(Routes::paths).map(str::to_owned).collect();
    let described = DescribedRoutes::new(functions.iter().flat_map(Routes::descriptions));
    let router = functions
        .into_iter()
        .fold(Router::new(), |service, routes| service.merge(routes.into_router(&app, &described)))
        .fallback(endpoint_not_found)
        .with_state(app.clone());
    let router = answer_panics(router);
    let with_rules = http_layers(router, &app.allowed_origins, described);
    let observed =
        behind_secret(with_rules, &app).layer(from_fn_with_state(app.observer, telemetry::observe));
    ignore_trailing_slashes(observed, paths)
}

/// The router behind the origin secret, if there is one.
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
    // OpenAPI cannot express a parameter that matches the rest of a path.
    description.paths.paths =
        paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    description
}

/// Runs a function's routes on Lambda until the container ends. Called by `main`.
///
/// A single thread is fastest for one request at a time. If Lambda sends a container several at once, there is
/// one thread per processor.
pub fn start(routes: fn() -> Routes) -> Result<(), Error> {
    let mut threads = if takes_several_requests() {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    threads.enable_all().build()?.block_on(run(routes()))
}

/// Prepares the dataset, the routes and the extension that writes usage concurrently, before asking for the
/// first request. Public routes need none of them.
async fn run(routes: Routes) -> Result<(), Error> {
    logging::log_as_json();
    let app = App::on(Store::from_env(TimeoutProfile::Request));
    if !routes.need_key() {
        return lambda_http::run_concurrent(lambda(routes, app).then(buffered_response::read))
            .await;
    }
    let (dataset, quotas) = (Arc::clone(&app.dataset), Arc::clone(&app.quotas));
    let prepared = tokio::task::spawn_blocking(routes.preparation);
    let loaded = tokio::spawn(async move {
        if let Err(error) = dataset.get().await {
            tracing::error!(error = with_causes(&error), "starting without a dataset");
        }
    });
    // Sends the manifest request now, so it is in flight while the routes are built.
    tokio::task::yield_now().await;
    let ready = async { tokio::try_join!(loaded, prepared).map(|_| ()).map_err(Error::from) };
    extension::run(lambda(routes, app).then(buffered_response::read), quotas, ready).await
}

/// The service of a Lambda function: `routes` behind API Gateway.
pub fn lambda(
    routes: Routes,
    app: App,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send {
    service([routes], app).layer(from_fn(prefix_links)).map_request(restore_path)
}
