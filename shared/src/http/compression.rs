//! Compression of responses (RFC 9110, 8.4), as far as it pays.

use axum::http::{Extensions, HeaderMap, StatusCode, Version};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer,
        predicate::{NotForContentType, Predicate, SizeAbove},
    },
};

/// The least length of a body that is compressed, in bytes. A shorter one fits into the first packet
/// anyway.
const MIN_LENGTH: u64 = 1024;

/// Compresses bodies with gzip, if the client accepts it. Its fastest level takes microseconds and
/// reduces a page of a list to a fifth. Brotli would spare a tenth of that, but it adds more than a
/// megabyte to each function, which takes longer to start.
pub fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        // A PNG is compressed already; an SVG is text.
        .compress_when(SizeAbove::new(MIN_LENGTH).and(has_body).and(NotForContentType::IMAGES))
}

fn has_body(status: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
    status != StatusCode::NOT_MODIFIED
}
