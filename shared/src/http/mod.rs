//! HTTP features that every endpoint has: host validation, content negotiation, conditional requests, compression,
//! and cross-origin requests.

pub(crate) mod compression;
pub(crate) mod conditional;
pub(crate) mod cors;
mod host;
mod inline_source;
mod preferences;

use axum::http::{HeaderMap, HeaderName};

pub use cors::AllowedOrigins;
pub use host::request_host;
pub use inline_source::inline_source;
pub(crate) use preferences::prefers_problems;
pub use preferences::{
    accepts_json, preferred_languages, preferred_media_type, prefers_gzip, prefers_html,
};

/// The value of a header that was sent exactly once, as text.
pub(crate) fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
