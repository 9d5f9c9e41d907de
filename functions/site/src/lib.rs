//! Pages for browsers: the lookup page, documentation, OpenAPI document and flag images. Requires no key or data.

mod description;
mod document;
mod flags;
mod page;
#[cfg(test)]
mod tests;
pub mod version_3_0;

use axum::routing::get;
use shared::app::Routes;
use utoipa_axum::router::OpenApiRouter;

/// The routes of this function, which require no key. The OpenAPI document omits them, since they are not
/// part of the API.
pub fn routes() -> Routes {
    Routes::public(OpenApiRouter::default())
        .with_undescribed("/", get(page::page))
        .with_undescribed("/docs", get(page::docs))
        .with_undescribed("/openapi.json", get(description::version_3_1))
        .with_undescribed("/openapi-3.0.json", get(description::version_3_0))
        .with_undescribed("/flags/{*path}", get(flags::flag))
}
