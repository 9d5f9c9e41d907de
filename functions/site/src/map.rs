//! The map of states, which the lookup page requests when it shows an area code.

use std::sync::LazyLock;

use axum::{
    body::Bytes,
    http::{
        HeaderMap,
        header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use shared::http::accepts_gzip;

use crate::{document::compress, flags};

const MAP: &str = include_str!("../assets/page/map.svg");
static COMPRESSED: LazyLock<Bytes> = LazyLock::new(|| compress(MAP));

pub fn map(request: &HeaderMap) -> Response {
    let headers = [
        (CONTENT_TYPE, "image/svg+xml"),
        (CACHE_CONTROL, flags::UNVERSIONED_CACHE_CONTROL),
        (CONTENT_SECURITY_POLICY, flags::POLICY),
    ];
    if accepts_gzip(request) {
        return (headers, [(CONTENT_ENCODING, "gzip")], COMPRESSED.clone()).into_response();
    }
    (headers, MAP).into_response()
}
