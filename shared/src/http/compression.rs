//! Response compression (RFC 9110, 8.4).

use axum::http::{Extensions, HeaderMap, StatusCode, Version};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer,
        predicate::{NotForContentType, Predicate, SizeAbove},
    },
};

/// The minimum length of a compressed body, in bytes. A shorter one fits into the first packet anyway.
const MIN_LENGTH: u64 = 1024;

/// Compresses bodies with gzip if the client accepts it. The fastest level takes microseconds and shrinks a
/// list page to a fifth. Brotli would save a tenth of that, but it adds more than a megabyte to each function and
/// slows cold starts.
pub fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        // PNGs are already compressed; SVGs are text.
        .compress_when(SizeAbove::new(MIN_LENGTH).and(has_body).and(NotForContentType::IMAGES))
}

fn has_body(status: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
    status != StatusCode::NOT_MODIFIED
}
