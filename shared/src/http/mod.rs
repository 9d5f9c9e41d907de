//! HTTP features that every endpoint has: host validation, content negotiation, conditional requests, compression,
//! and cross-origin requests.

pub(crate) mod compression;
pub(crate) mod conditional;
pub(crate) mod cors;
mod host;
mod inline_source;
mod preferences;

pub use cors::{AllowedOrigins, InvalidOrigins};
pub use host::request_host;
pub use inline_source::inline_source;
pub use preferences::{
    accepts_gzip, accepts_json, preferred_languages, preferred_media_type, prefers_html,
};
pub(crate) use preferences::{prefers_gzip, prefers_problems};
