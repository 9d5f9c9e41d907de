//! Pages for browsers: the lookup page, documentation, OpenAPI document and flag images. Requires no key or data.

mod description;
mod document;
mod flags;
mod page;
#[cfg(test)]
mod tests;
pub mod version_3_0;

use axum::routing::get;
use shared::routes::{Route, Routes};

/// This function's routes, which require no key. The OpenAPI document omits them, since they are not
/// part of the API.
pub fn routes() -> Routes {
    Routes::public([
        Route::undocumented_get("/", get(page::page)),
        Route::undocumented_get("/docs", get(page::docs)),
        Route::undocumented_get("/openapi.json", get(description::version_3_1)),
        Route::undocumented_get("/openapi-3.0.json", get(description::version_3_0)),
        Route::undocumented_get("/flags/{*path}", get(flags::flag)),
    ])
}
