//! The app around a function's routes: what they share, who may call them, and how they are run.

use std::{any::Any, convert::Infallible, env, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderValue, Method, Uri, header},
    middleware::{from_fn, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
};
use lambda_http::{Request, Service, tower::ServiceExt};
use moka::future::Cache;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    auth::{self, KeyRing},
    dataset::CurrentDataset,
    errors::ApiError,
    extension,
    gateway::restore_path,
    logging,
    params::quote,
    quota::Quotas,
    records::{Exchange, NpaNxx, Version},
    store::{Patience, Store},
    telemetry,
};

/// Time to live of a cached exchange.
const EXCHANGES_REMEMBERED_FOR: Duration = Duration::from_secs(300);
const MOST_EXCHANGES_IN_MEMORY: u64 = 10_000;
/// Where flag images are looked for unless `FLAGS_BASE_URL` says otherwise.
const DEFAULT_FLAGS_BASE_URL: &str = "https://flags.example.com";

/// What every handler can reach. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub dataset: Arc<CurrentDataset>,
    pub keys: Arc<KeyRing>,
    pub quotas: Arc<Quotas>,
    /// Where the flag images are hosted, without a slash at the end.
    pub flags_base_url: Arc<str>,
    /// Recently read exchanges, by NPA-NXX and version of the data.
    pub(crate) exchanges: Cache<(NpaNxx, Version), Exchange>,
}

impl App {
    /// An app on `store`, the rest as the environment says.
    pub fn on(store: Store) -> Self {
        let flags =
            env::var("FLAGS_BASE_URL").unwrap_or_else(|_| DEFAULT_FLAGS_BASE_URL.to_owned());
        let exchanges = Cache::builder()
            .max_capacity(MOST_EXCHANGES_IN_MEMORY)
            .time_to_live(EXCHANGES_REMEMBERED_FOR);
        Self {
            dataset: Arc::new(CurrentDataset::new(store.clone())),
            keys: Arc::new(KeyRing::new(store.clone())),
            quotas: Arc::new(Quotas::new(store.clone())),
            flags_base_url: flags.trim_end_matches('/').into(),
            exchanges: exchanges.build(),
            store,
        }
    }
}

/// The routes of one function, protected unless they are declared public.
pub struct Routes {
    router: OpenApiRouter<App>,
    access: Access,
}

enum Access {
    Protected,
    Public,
}

impl From<OpenApiRouter<App>> for Routes {
    fn from(router: OpenApiRouter<App>) -> Self {
        Self { router, access: Access::Protected }
    }
}

impl Routes {
    /// Routes that anybody may call without a key.
    pub fn public(router: OpenApiRouter<App>) -> Self {
        Self { router, access: Access::Public }
    }

    /// Their paths as the router has them, where `{*tn}` takes the rest of the path.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.router.get_openapi().paths.paths.keys().map(String::as_str)
    }

    fn guarded(self, app: &App) -> Router<App> {
        let router = Router::from(self.router).method_not_allowed_fallback(method_not_allowed);
        match self.access {
            Access::Protected => {
                router.route_layer(from_fn_with_state(app.clone(), auth::require_key))
            }
            Access::Public => router.route_layer(map_response(shareable)),
        }
    }
}

/// The service that answers the routes of `functions`, and the JSON 404 for every other path.
pub fn service(functions: impl IntoIterator<Item = Routes>, app: App) -> Router {
    functions
        .into_iter()
        .fold(Router::new(), |service, routes| service.merge(routes.guarded(&app)))
        .fallback(endpoint_not_found)
        .with_state(app)
        .layer(CatchPanicLayer::custom(internal_error))
        .layer(from_fn(telemetry::observe))
}

/// The description of every path `functions` answer.
pub fn openapi(functions: impl IntoIterator<Item = Routes>) -> utoipa::openapi::OpenApi {
    let none = OpenApiRouter::<App>::default();
    let all = functions.into_iter().fold(none, |all, routes| all.merge(routes.router));
    let mut description = all.into_openapi();
    let paths = std::mem::take(&mut description.paths.paths);
    // OpenAPI knows no parameter that takes the rest of the path
    description.paths.paths =
        paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    description
}

/// Runs `routes` as a Lambda function until the environment is shut down.
///
/// Protected ones load the dataset before the first request: lists need it, and lookups go on with
/// it while DynamoDB does not answer.
///
/// # Errors
/// Where the Lambda runtime API cannot be reached.
pub async fn run(routes: Routes) -> Result<(), lambda_http::Error> {
    log_as_json();
    let app = App::on(Store::from_env(Patience::Serving).await);
    if let (Access::Protected, Err(error)) = (&routes.access, app.dataset.get().await) {
        tracing::error!(%error, "starting without a dataset");
    }
    let quotas = Arc::clone(&app.quotas);
    match routes.access {
        Access::Protected => extension::run(lambda(routes, app), quotas).await,
        Access::Public => lambda_http::run(lambda(routes, app)).await,
    }
}

/// The service a Lambda runs: `routes` behind API Gateway.
pub fn lambda(
    routes: Routes,
    app: App,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send {
    service([routes], app).map_request(restore_path)
}

/// Logs structured lines to stdout, which Lambda hands to CloudWatch; `RUST_LOG` sets the level.
pub fn log_as_json() {
    logging::hide_panic_messages();
    tracing_subscriber::fmt()
        .json()
        .with_env_filter(logging::filter("info"))
        .with_current_span(false)
        .without_time()
        .init();
}

/// Public answers hold nothing of the caller's, so anybody may keep them for a minute.
async fn shareable(mut response: Response) -> Response {
    let policy = match response.status().is_success() {
        true => "public, max-age=60",
        false => "no-store",
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(policy));
    response
}

async fn endpoint_not_found(uri: Uri) -> ApiError {
    ApiError::NotFound(format!("Endpoint not found: {}", quote(uri.path())))
}

async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    ApiError::MethodNotAllowed(format!("{method} is not allowed on {}; use GET", quote(uri.path())))
}

/// The message of the panic may quote what the client sent; its place is logged where it happens.
fn internal_error(_message: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    ApiError::Internal.into_response()
}
