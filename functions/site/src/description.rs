//! Serves the committed OpenAPI document. A test compares it with the routes.

use std::sync::LazyLock;

use axum::{
    http::{HeaderName, header::CONTENT_TYPE},
    response::IntoResponse,
};

use crate::version_3_0;

const VERSION_3_1: &str = include_str!("../../../docs/openapi.json");
static VERSION_3_0: LazyLock<String> = LazyLock::new(|| {
    let description = serde_json::from_str(VERSION_3_1).expect("the committed document is JSON");
    format!("{:#}\n", version_3_0::convert(description))
});
const JSON: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];

pub async fn version_3_1() -> impl IntoResponse {
    (JSON, VERSION_3_1)
}

/// Serves the document in OpenAPI 3.0, for older tools.
pub async fn version_3_0() -> impl IntoResponse {
    (JSON, VERSION_3_0.as_str())
}
