//! A running service for tests to speak to.

use std::{net::Ipv4Addr, sync::LazyLock};

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use shared::{app, state::App};
use tnr::{commands::keys, database::Database, routes, sample};
use tokio::{net::TcpListener, runtime::Runtime};

/// The key of the sample events, too.
pub const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

/// A client that opens a connection for each request: a pooled one would end with the runtime of the
/// test that opened it.
pub fn http_client() -> Client {
    // Another test may have installed it already.
    _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().pool_max_idle_per_host(0).build().unwrap()
}

pub struct Service {
    pub base_url: String,
    pub database: Database,
    client: Client,
}

/// A service on the sample that every test may read; it runs on a thread of its own, since each
/// test has a runtime of its own.
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

impl Service {
    /// A service with an empty database, and a key.
    pub async fn empty() -> Self {
        let database = Database::in_memory().await.unwrap();
        keys::register(&database.store(), &KEY.parse().unwrap(), "tests").await.unwrap();
        Self::on(database).await
    }

    /// The same database under a service that remembers nothing.
    pub async fn restarted(self) -> Self {
        Self::on(self.database).await
    }

    /// A service that takes its database as it is.
    pub async fn on(database: Database) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let service = app::service(routes(), App::on(database.serving_store().await));
        tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        Self { base_url, database, client: http_client() }
    }

    /// A service of its own on the sample.
    pub async fn with_sample() -> Self {
        let service = Self::empty().await;
        sample::import_if_empty(&service.database.store()).await.unwrap();
        service
    }

    /// A request without a key.
    pub fn request(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.base_url))
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(path).bearer_auth(KEY).send().await.unwrap()
    }

    /// Status and body of an answer, which has to be JSON.
    pub async fn answer(&self, path: &str) -> (StatusCode, Value) {
        let response = self.get(path).await;
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
        (response.status(), response.json().await.unwrap())
    }

    /// The body of a success.
    pub async fn ok(&self, path: &str) -> Value {
        let (status, body) = self.answer(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }

    /// Asserts an error's status, `error` and `message`, and that the body holds nothing else.
    pub async fn assert_error(&self, path: &str, status: u16, error: &str, message: &str) {
        let (actual, body) = self.answer(path).await;
        assert_eq!(actual.as_u16(), status, "{path}: {body}");
        assert_eq!(body, serde_json::json!({ "error": error, "message": message }), "{path}");
    }
}

/// The names of an object's fields, in order.
pub fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}
