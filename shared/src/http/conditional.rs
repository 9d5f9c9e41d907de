//! Entity tags and conditional requests (RFC 9110, 8.8.3 and 13.1.2).

use std::convert::Infallible;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH},
    },
    response::Response,
};
use futures_util::stream;
use percent_encoding::percent_decode_str;
use twox_hash::XxHash3_128;

use crate::{body::buffer_body, params::query_without, request_context};

/// The parts of a request that determine its entity tag, and the tags that make it conditional.
pub struct Condition {
    target: String,
    /// The tags that the client sent.
    client_tags: Vec<String>,
}

impl Condition {
    /// `None` unless the method is `GET` or `HEAD`, whose responses clients may cache.
    pub fn from_request(request: &Request) -> Option<Self> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let client_tags = tags_from_headers(request.headers());
        Some(Self { target: target_without_key(request.uri()), client_tags })
    }

    /// Sets `ETag` on a successful response, or turns it into a 304 if the client already has it.
    pub async fn apply(self, response: Response) -> Response {
        if response.status() != StatusCode::OK {
            return response;
        }
        let (mut parts, body) = buffer_body(response).await;
        let tag = entity_tag(&self.target, &body);
        let value =
            HeaderValue::try_from(format!("W/{tag}")).expect("hex digits are valid in headers");
        parts.headers.insert(ETAG, value);
        if !self.client_tags.iter().any(|client_tag| *client_tag == tag || client_tag == "*") {
            return Response::from_parts(parts, Body::from(body));
        }
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        // An empty stream, because axum would set `Content-Length: 0` for an empty body. A 304 must not have a
        // different length than the cached response (RFC 9110, 8.6).
        let empty = stream::empty::<Result<Bytes, Infallible>>();
        Response::from_parts(parts, Body::from_stream(empty))
    }
}

/// The quoted tag of a response. Hashing the body is not enough: if two data versions share a page, their `Link` URLs
/// still differ. The tag is weak, because the response may or may not be compressed.
fn entity_tag(target: &str, body: &Bytes) -> String {
    let version = request_context::data_version().unwrap_or_default();
    let mut hasher = XxHash3_128::new();
    for part in [version.as_bytes(), target.as_bytes(), body] {
        hasher.write(part);
        hasher.write(b"\n");
    }
    format!("\"{:032x}\"", hasher.finish_128())
}

/// The path and query without the key, so that all keys get the same tag. They are decoded, because gateways
/// encode them differently.
fn target_without_key(uri: &Uri) -> String {
    let path = percent_decode_str(uri.path()).decode_utf8_lossy();
    format!("{path}?{}", query_without(uri, &[]).finish())
}

/// The tags in `If-None-Match`, quoted and without the weak marker, which this comparison ignores. A comma inside a
/// tag splits it, but this service's tags do not contain commas.
fn tags_from_headers(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_not_part_of_the_target() {
        let target = |text: &str| target_without_key(&text.parse().unwrap());
        assert_eq!(target("/v1/npa?npa=415&apiKey=secret"), target("/v1/npa?apiKey=other&npa=415"));
        assert_eq!(target("/v1/format/1%2D2?cache=%66alse"), target("/v1/format/1-2?cache=false"));
        assert_ne!(target("/v1/npa?npa=415"), target("/v1/npa?npa=416"));
    }
}
