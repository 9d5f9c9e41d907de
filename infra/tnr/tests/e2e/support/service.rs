//! A running service for tests.

use std::sync::LazyLock;

use axum::middleware::from_fn;
use reqwest::{
    Body, Client, Method, RequestBuilder, Response, StatusCode,
    header::{self, HeaderMap},
};
use serde_json::Value;
use shared::{app, state::App};
use store::Store;
use tnr::{database::Database, routes};
use tokio::runtime::Runtime;

use super::{api_events::HOST, databases, description, fault_proxy::FaultProxy, listening::serve};
use tnr::openapi::sample_requests::SampleRequest;

/// The key in the sample requests, registered with every test service.
pub use tnr::openapi::sample_requests::SAMPLE_KEY as KEY;

/// A client without pooling, because pooled connections would close with the runtime of the test that opened
/// them.
pub fn http_client() -> Client {
    // Fails if another test has already installed it.
    _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().pool_max_idle_per_host(0).build().unwrap()
}

/// A running service and its database. Both stop with the test's runtime.
pub struct Service {
    pub base_url: String,
    pub database: Database,
    client: Client,
}

/// A service with the sample, for read-only tests. It has its own thread and runtime, because a test's runtime ends
/// with the test.
pub fn shared_service() -> &'static Service {
    static SERVICE: LazyLock<Service> = LazyLock::new(|| {
        let (started, service) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            Runtime::new().unwrap().block_on(async {
                started.send(Service::with_sample().await).unwrap();
                std::future::pending::<()>().await;
            });
        });
        service.recv().unwrap()
    });
    &SERVICE
}

/// A test's own app with the shared service's data.
pub async fn sample_app() -> App {
    App::with_store(shared_service().database.serving_store().await)
}

impl Service {
    /// A service with an empty database and a key.
    pub async fn empty() -> Self {
        Self::on(databases::empty().await).await
    }

    /// A new service on the same database, with nothing in memory.
    pub async fn restart(self) -> Self {
        Self::on(self.database).await
    }

    /// A service with an existing database.
    pub async fn on(database: Database) -> Self {
        let store = database.serving_store().await;
        Self::with_store(database, store).await
    }

    async fn with_store(database: Database, store: Store) -> Self {
        let service = app::service(routes(), App::with_store(store));
        let service = service.layer(from_fn(description::enforce));
        Self { base_url: serve(service).await, database, client: http_client() }
    }

    /// A service with its own copy of the sample.
    pub async fn with_sample() -> Self {
        Self::on(databases::with_sample().await).await
    }

    /// A service with its own copy of the first small reports.
    pub async fn with_small_reports() -> Self {
        Self::on(databases::with_small_reports().await).await
    }

    /// A service whose database is behind a proxy.
    pub async fn behind(proxy: &FaultProxy) -> Self {
        Self::on(Database::at(proxy.endpoint.clone()).await.unwrap()).await
    }

    /// A service that waits as long for the database at `endpoint` as an import does, so that its calls are the same on
    /// a busy machine.
    pub async fn patient(endpoint: &str) -> Self {
        let database = Database::at(endpoint.to_owned()).await.unwrap();
        let store = database.store();
        Self::with_store(database, store).await
    }

    pub fn request(&self, path: &str) -> RequestBuilder {
        self.request_with(Method::GET, path)
    }

    /// A request without a key. It goes to the host in the API Gateway events, so that links are the same however a
    /// request arrives.
    pub fn request_with(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base_url));
        request.header(header::HOST, HOST).header("x-forwarded-proto", "https")
    }

    /// A request to `path` without a key, with a sample request's method, headers and body.
    pub fn request_like(&self, sample: &SampleRequest, path: &str) -> RequestBuilder {
        let method = sample.method.parse().unwrap();
        let mut request = self.request_with(method, path);
        let is_key = |name: &str| ["authorization", "x-api-key"].contains(&name);
        for (name, value) in sample.headers.iter().filter(|(name, _)| !is_key(name)) {
            request = request.header(name, value);
        }
        match &sample.body {
            Some(body) => request.body(body.clone()),
            None => request,
        }
    }

    /// Sends a `GET` request with the sample key.
    pub async fn get(&self, path: &str) -> Response {
        self.request(path).bearer_auth(KEY).send().await.unwrap()
    }

    /// A `POST` request with the sample key.
    pub fn post(&self, path: &str, content_type: &str, body: impl Into<Body>) -> RequestBuilder {
        let request = self.request_with(Method::POST, path).bearer_auth(KEY);
        request.header("content-type", content_type).body(body)
    }

    /// The status and body of a response, which must be JSON.
    pub async fn get_json(&self, path: &str) -> (StatusCode, Value) {
        let response = self.get(path).await;
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
        (response.status(), response.json().await.unwrap())
    }

    /// The body of a response, which must have a success status.
    pub async fn ok(&self, path: &str) -> Value {
        let (status, body) = self.get_json(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }
}

/// The value of a header; empty if missing.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}
