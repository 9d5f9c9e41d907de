//! The address at which a client reached the service, which links use.
//!
//! Behind API Gateway, the address comes from the event, because a response may be cached for others and clients can
//! send any header. In the local server, it comes from `Host` (`:authority` in HTTP/2) and, behind a proxy that terminates TLS,
//! from `X-Forwarded-Proto`. Such a response is `private`.

use std::convert::Infallible;

use axum::{
    extract::FromRequestParts,
    http::{Extensions, HeaderMap, HeaderName, request::Parts},
};

use crate::{
    gateway::{PathPrefix, event_context},
    http::request_host,
};

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The address at which a client reached the service: scheme, host and base path, without a trailing slash, such as
/// `https://api.example.com/numbers`. `None` if the request came from this process, or from an HTTP/1.0 client that did
/// not send a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicAddress(pub Option<String>);

impl<S: Sync> FromRequestParts<S> for PublicAddress {
    type Rejection = Infallible;

    /// Requests made in process have their address in the extensions.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self::from_parts(parts)))
    }
}

impl PublicAddress {
    fn from_parts(parts: &Parts) -> Self {
        let origin = match event_context(&parts.extensions) {
            Some(context) => {
                context.domain_name.as_deref().map(|domain| format!("https://{domain}"))
            }
            None => request_origin(parts),
        };
        let prefix = parts.extensions.get().map(|PathPrefix(prefix)| prefix.as_str());
        Self(origin.map(|origin| origin + prefix.unwrap_or_default()))
    }
}

/// A request's scheme and host; `None` if the request names no host. If several proxies added to `X-Forwarded-Proto`,
/// the first value is the scheme that the client used.
fn request_origin(parts: &Parts) -> Option<String> {
    let host = request_host(&parts.uri, &parts.headers, parts.version).ok()??;
    Some(format!("{}://{host}", request_scheme(&parts.headers, &parts.extensions)))
}

/// The scheme that the client used.
pub(crate) fn request_scheme(headers: &HeaderMap, extensions: &Extensions) -> &'static str {
    let protos = headers.get(FORWARDED_PROTO).and_then(|value| value.to_str().ok());
    let first_proto = protos.and_then(|protos| protos.split(',').next());
    let is_encrypted = first_proto.is_some_and(|proto| proto.trim().eq_ignore_ascii_case("https"));
    if is_encrypted || event_context(extensions).is_some() { "https" } else { "http" }
}
