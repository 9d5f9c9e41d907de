//! The API in this process, which is faster than over HTTP.

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response},
};
use lambda_http::tower::ServiceExt;
use serde_json::Value;
use shared::{app, state::App};
use tnr::routes;

use super::service::KEY;

pub fn api(app: App) -> Router {
    app::service(routes(), app)
}

/// Sends a `GET` request with the sample key.
pub async fn send(api: &Router, target: &str) -> Response<Body> {
    let request = Request::get(target).header("host", "localhost").header("x-api-key", KEY);
    api.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

pub async fn text(response: Response<Body>) -> String {
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

/// The status and body of a response, which must be JSON.
pub async fn get(api: &Router, target: &str) -> (u16, Value) {
    let response = send(api, target).await;
    let status = response.status().as_u16();
    (status, serde_json::from_str(&text(response).await).unwrap())
}
