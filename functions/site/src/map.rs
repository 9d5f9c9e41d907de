//! The map of states, which the lookup page requests when it shows an area code.

use std::sync::LazyLock;

use axum::{
    body::Bytes,
    http::{
        HeaderMap,
        header::{CONTENT_ENCODING, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use shared::http::accepts_gzip;

use crate::document::compress;

const MAP: &str = include_str!("../assets/page/map.svg");
static COMPRESSED: LazyLock<Bytes> = LazyLock::new(|| compress(MAP));

pub fn map(request: &HeaderMap) -> Response {
    let media_type = [(CONTENT_TYPE, "image/svg+xml")];
    if accepts_gzip(request) {
        return (media_type, [(CONTENT_ENCODING, "gzip")], COMPRESSED.clone()).into_response();
    }
    (media_type, MAP).into_response()
}
