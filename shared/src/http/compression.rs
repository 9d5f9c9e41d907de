//! Compression of responses (RFC 9110, 8.4), as far as it pays.

use axum::http::{Extensions, HeaderMap, StatusCode, Version, header::ACCEPT_ENCODING};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer,
        predicate::{NotForContentType, Predicate, SizeAbove},
    },
};

use super::preferences::{listed, quality};

/// The least length of a body that is compressed, in bytes. A shorter one fits into the first packet
/// anyway.
const LEAST_LENGTH: u64 = 1024;

/// Compresses bodies with gzip, if the client accepts it. Its fastest level takes microseconds and
/// reduces a page of a list to a fifth. Brotli would spare a tenth of that, but it adds more than a
/// megabyte to each function, which takes longer to start.
pub fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        // A PNG is compressed already; an SVG is text.
        .compress_when(SizeAbove::new(LEAST_LENGTH).and(has_body).and(NotForContentType::IMAGES))
}

/// Whether a response with this status has a body.
fn has_body(status: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
    status != StatusCode::NOT_MODIFIED
}

/// Removes an `Accept-Encoding` that refuses every coding and also `identity`. The compression would
/// answer with 406 and the whole body; any response helps the client more.
pub fn remove_unsatisfiable_accept_encoding(headers: &mut HeaderMap) {
    if refuses_every_coding(headers) {
        headers.remove(ACCEPT_ENCODING);
    }
}

fn refuses_every_coding(headers: &HeaderMap) -> bool {
    let accepted = listed(headers, ACCEPT_ENCODING);
    let quality_of = |coding| quality(&accepted, &[coding, "*"]);
    // Only `identity` is acceptable without being listed.
    let qualities = [quality_of("identity").unwrap_or(1.0), quality_of("gzip").unwrap_or_default()];
    qualities.iter().all(|quality| *quality == 0.0)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_header_that_refuses_every_coding_is_unsatisfiable() {
        let is_unsatisfiable = |accepted: &'static str| {
            let header = (ACCEPT_ENCODING, HeaderValue::from_static(accepted));
            refuses_every_coding(&HeaderMap::from_iter([header]))
        };
        for accepted in ["identity;q=0", "*;q=0", "gzip;q=0, *;q=0", "deflate, identity;q=0"] {
            assert!(is_unsatisfiable(accepted), "{accepted}");
        }
        for accepted in ["", "gzip", "identity;q=0, gzip", "*;q=0, identity", "identity;q=0, *"] {
            assert!(!is_unsatisfiable(accepted), "{accepted}");
        }
    }
}
