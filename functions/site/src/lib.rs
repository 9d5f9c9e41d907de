//! Pages for browsers: the lookup page, documentation, OpenAPI document and flag images. Requires no key or data.

mod description;
mod document;
mod page;
#[cfg(test)]
mod tests;
pub mod version_3_0;

use axum::{
    http::{
        HeaderName,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use description::{VERSION_3_0, VERSION_3_1};
use shared::{
    errors::{ApiError, quote},
    params::PathParams,
    routes::{Route, Routes},
};

/// This function's routes, which require no key. The OpenAPI document omits them, since they are not
/// part of the API.
pub fn routes() -> Routes {
    Routes::public([
        Route::undocumented_get("/", get(page::page)),
        Route::undocumented_get("/docs", get(page::docs)),
        Route::undocumented_get(
            "/openapi.json",
            get(async |app, address| VERSION_3_1.response(app, address)),
        ),
        Route::undocumented_get(
            "/openapi-3.0.json",
            get(async |app, address| VERSION_3_0.response(app, address)),
        ),
        Route::undocumented_get("/flags/{*path}", get(flag)),
    ])
}

/// The map of states, which the lookup page requests when it shows an area code.
const MAP: &[u8] = include_bytes!("../assets/page/map.svg");
/// Prevents an SVG opened as a document from running scripts or loading resources.
const IMAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
/// A versioned image never changes.
const VERSIONED_CACHE_CONTROL: &str = "public, max-age=31536000, immutable";
/// A URL without a version, or with another release's version, gets this release's image.
const UNVERSIONED_CACHE_CONTROL: &str = "public, max-age=86400";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const VERSION_DIGITS: usize = 8;

/// Serves the image at a path such as `80dc79f0/countries/US.svg`. The version may be missing or from another release,
/// so links work as long as the flag exists. The page's map and its script for lists are next to the flags, so that
/// deployments route and cache them in the same way.
async fn flag(PathParams([path]): PathParams<1>) -> Result<Response, ApiError> {
    let (caching, name) = match path.split_once('/') {
        Some((flags::VERSION, name)) => (VERSIONED_CACHE_CONTROL, name),
        Some((version, name)) if is_version(version) => (UNVERSIONED_CACHE_CONTROL, name),
        _ => (UNVERSIONED_CACHE_CONTROL, path.as_str()),
    };
    let (media_type, bytes) = match flags::image(name) {
        Some(image) => (image.media_type, image.bytes),
        None if path == "map.svg" => ("image/svg+xml", MAP.into()),
        None if name == "list.js" => ("text/javascript", page::LIST_SCRIPT.as_bytes().into()),
        None => {
            return Err(ApiError::not_found(format!("No flag found at /flags/{}", quote(&path))));
        }
    };
    let headers = [
        (CONTENT_TYPE, media_type),
        (CACHE_CONTROL, caching),
        (CONTENT_SECURITY_POLICY, IMAGE_POLICY),
        // Lets cross-origin isolated pages show it.
        (RESOURCE_POLICY, "cross-origin"),
    ];
    Ok((headers, bytes).into_response())
}

fn is_version(text: &str) -> bool {
    text.len() == VERSION_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
