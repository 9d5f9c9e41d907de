//! The description of the API, as it is committed. A test holds that against the routes.

use axum::{http::header::CONTENT_TYPE, response::IntoResponse};

const VERSION_3_1: &str = include_str!("../../../docs/openapi.json");
const VERSION_3_0: &str = include_str!("../../../docs/openapi-3.0.json");
const JSON: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];

/// Answers with the description in OpenAPI 3.1.
pub async fn version_3_1() -> impl IntoResponse {
    (JSON, VERSION_3_1)
}

/// Answers with the description in OpenAPI 3.0, for tools that know nothing newer.
pub async fn version_3_0() -> impl IntoResponse {
    (JSON, VERSION_3_0)
}
