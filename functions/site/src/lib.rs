//! Pages for browsers: the lookup page, documentation, OpenAPI document and flag images. Requires no key or data.

mod document;
mod flags;
mod page;
#[cfg(test)]
mod tests;
pub mod version_3_0;

use std::sync::LazyLock;

use axum::{
    http::{HeaderName, header::CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
};
use shared::routes::{Route, Routes};

/// This function's routes, which require no key. The OpenAPI document omits them, since they are not
/// part of the API.
pub fn routes() -> Routes {
    Routes::public([
        Route::undocumented_get("/", get(page::page)),
        Route::undocumented_get("/docs", get(page::docs)),
        Route::undocumented_get("/openapi.json", get(description_3_1)),
        Route::undocumented_get("/openapi-3.0.json", get(description_3_0)),
        Route::undocumented_get("/flags/{*path}", get(flags::flag)),
    ])
}

/// The committed OpenAPI document. A test compares it with the routes.
const VERSION_3_1: &str = include_str!("../../../docs/openapi.json");
static VERSION_3_0: LazyLock<String> = LazyLock::new(|| {
    let description = serde_json::from_str(VERSION_3_1).expect("the committed document is JSON");
    format!("{:#}\n", version_3_0::convert(description))
});
const JSON: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];

async fn description_3_1() -> impl IntoResponse {
    (JSON, VERSION_3_1)
}

/// Serves the document in OpenAPI 3.0, for older tools.
async fn description_3_0() -> impl IntoResponse {
    (JSON, VERSION_3_0.as_str())
}
