//! Flag images, which `format` results link to.

use axum::{
    http::{
        HeaderMap, HeaderName,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use shared::{
    errors::{ApiError, quote},
    params::PathParams,
};

use crate::map;

/// Prevents an SVG opened as a document from running scripts or loading resources.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
/// A versioned image never changes.
const VERSIONED_CACHE_CONTROL: &str = "public, max-age=31536000, immutable";
/// A URL without a version, or with another release's version, gets this release's image.
const UNVERSIONED_CACHE_CONTROL: &str = "public, max-age=86400";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const VERSION_DIGITS: usize = 8;

/// Serves the image at a path such as `80dc79f0/countries/US.svg`. The version may be missing or from another release,
/// so links work as long as the flag exists. The page's map is beside the flags, so that deployments route and cache it in
/// the same way.
pub async fn flag(
    PathParams([path]): PathParams<1>,
    request: HeaderMap,
) -> Result<Response, ApiError> {
    if path == "map.svg" {
        let headers =
            [(CACHE_CONTROL, UNVERSIONED_CACHE_CONTROL), (CONTENT_SECURITY_POLICY, POLICY)];
        return Ok((headers, map::map(&request)).into_response());
    }
    let (caching, name) = match path.split_once('/') {
        Some((::flags::VERSION, name)) => (VERSIONED_CACHE_CONTROL, name),
        Some((version, name)) if is_version(version) => (UNVERSIONED_CACHE_CONTROL, name),
        _ => (UNVERSIONED_CACHE_CONTROL, path.as_str()),
    };
    let image = ::flags::image(name)
        .ok_or_else(|| ApiError::not_found(format!("No flag found at /flags/{}", quote(&path))))?;
    let headers = [
        (CONTENT_TYPE, image.media_type),
        (CACHE_CONTROL, caching),
        (CONTENT_SECURITY_POLICY, POLICY),
        // Lets cross-origin isolated pages show it.
        (RESOURCE_POLICY, "cross-origin"),
    ];
    Ok((headers, image.bytes).into_response())
}

fn is_version(text: &str) -> bool {
    text.len() == VERSION_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
