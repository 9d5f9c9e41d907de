//! Pages for people with a browser: the page, the documentation, the description of the API, and the images of
//! flags. It needs neither a key nor the data.

mod description;
mod docs;
mod document;
mod flags;
mod page;
pub mod version_3_0;

use axum::routing::get;
use shared::app::Routes;
use utoipa_axum::router::OpenApiRouter;

/// The routes of this function, which take no key. The description of the API has none of them, since
/// they are not for programs.
pub fn routes() -> Routes {
    Routes::public(OpenApiRouter::default())
        .with_undescribed("/", get(page::page))
        .with_undescribed("/docs", get(docs::docs))
        .with_undescribed("/openapi.json", get(description::version_3_1))
        .with_undescribed("/openapi-3.0.json", get(description::version_3_0))
        .with_undescribed("/flags/{*path}", get(flags::flag))
}
