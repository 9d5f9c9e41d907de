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

use crate::{body::buffered, params::query_without, request_context};

/// The parts of a request that determine its entity tag and whether it is conditional.
pub struct Condition {
    target: String,
    present_tags: Vec<String>,
}

impl Condition {
    /// `None` unless the method is `GET` or `HEAD`: only their responses represent a URL that a client may have
    /// cached.
    pub fn from_request(request: &Request) -> Option<Self> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let present_tags = tags_in(request.headers());
        Some(Self { target: target_without_key(request.uri()), present_tags })
    }

    /// Sets `ETag` on a success, or turns it into a 304 if the client already has it. The request was
    /// authenticated and counted before.
    pub async fn apply(self, response: Response) -> Response {
        if response.status() != StatusCode::OK {
            return response;
        }
        let (mut parts, body) = buffered(response).await;
        let tag = tag_of(&self.target, &body);
        let value =
            HeaderValue::try_from(format!("W/{tag}")).expect("a hash is hexadecimal digits");
        parts.headers.insert(ETAG, value);
        let is_present = self.present_tags.iter().any(|present| *present == tag || present == "*");
        if !is_present {
            return Response::from_parts(parts, Body::from(body));
        }
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        Response::from_parts(parts, body_of_not_modified())
    }
}

/// An empty body of unknown length. With a known length, axum would set `Content-Length: 0`, but a 304 may only
/// have the length of the response the client has (RFC 9110, 8.6).
fn body_of_not_modified() -> Body {
    Body::from_stream(stream::empty::<Result<Bytes, Infallible>>())
}

/// The quoted tag of a response. The body alone is not enough: if two data versions share a page, their `Link`
/// URLs still differ. The tag is weak, since the same response may be compressed in several ways.
fn tag_of(target: &str, body: &Bytes) -> String {
    let version = request_context::data_version().unwrap_or_default();
    let mut hasher = XxHash3_128::new();
    for part in [version.as_bytes(), target.as_bytes(), body] {
        hasher.write(part);
        hasher.write(b"\n");
    }
    format!("\"{:032x}\"", hasher.finish_128())
}

/// Path and query, decoded and without the key, so a response has the same tag for every key. Decoding hides
/// the encoding differences between gateways.
fn target_without_key(uri: &Uri) -> String {
    let path = percent_decode_str(uri.path()).decode_utf8_lossy();
    format!("{path}?{}", query_without(uri, &[]).finish())
}

/// The tags in `If-None-Match`, quoted and without the weak marker, which this comparison ignores. A comma
/// inside a tag splits it, but never into one of ours.
fn tags_in(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_from_lists_and_lines_and_compared_weakly() {
        let lines = ["W/\"a\", \"b\"", "*"];
        let headers = lines.map(|line| (IF_NONE_MATCH, HeaderValue::from_static(line)));
        assert_eq!(tags_in(&HeaderMap::from_iter(headers)), ["\"a\"", "\"b\"", "*"]);
    }

    #[test]
    fn the_key_is_not_part_of_the_target() {
        let target = |text: &str| target_without_key(&text.parse().unwrap());
        assert_eq!(target("/v1/npa?npa=415&apiKey=secret"), target("/v1/npa?apiKey=other&npa=415"));
        assert_eq!(target("/v1/format/1%2D2?cache=%66alse"), target("/v1/format/1-2?cache=false"));
        assert_ne!(target("/v1/npa?npa=415"), target("/v1/npa?npa=416"));
    }
}
