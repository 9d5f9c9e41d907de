//! The address at which a client reached the service, for links to its other paths.
//!
//! Behind API Gateway, the address comes from its event: clients can write any header, and the response may be
//! cached for others. Over a port there are only headers: `Host` (`:authority` in HTTP/2) and, behind a proxy
//! that terminates TLS, `X-Forwarded-Proto`. Such a response is `private` to the client that wrote them.

use std::convert::Infallible;

use axum::{
    extract::FromRequestParts,
    http::{HeaderName, request::Parts},
};
use lambda_http::request::RequestContext::{self, ApiGatewayV1, ApiGatewayV2};

use crate::{gateway::PathPrefix, http::host_of};

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The address at which a client reached the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicAddress {
    /// Scheme, host and base path, without a trailing slash, such as `https://api.example.com/numbers`.
    At(String),
    /// No linkable address: the request comes from a process that serves no port, or names no host, as HTTP/1.0
    /// allows.
    Nowhere,
}

impl<S: Sync> FromRequestParts<S> for PublicAddress {
    type Rejection = Infallible;

    /// The address in the request's extensions takes precedence: a nested request inherits the outer one's.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self::from_parts(parts)))
    }
}

impl PublicAddress {
    fn from_parts(parts: &Parts) -> Self {
        let origin = match parts.extensions.get::<RequestContext>() {
            Some(context) => domain(context).map(|domain| format!("https://{domain}")),
            None => origin_in(parts),
        };
        let Some(origin) = origin else { return Self::Nowhere };
        let prefix = parts.extensions.get().map(|PathPrefix(prefix)| prefix.as_str());
        Self::At(origin + prefix.unwrap_or_default())
    }
}

/// The domain at which API Gateway received the request: its own, or a custom one.
fn domain(context: &RequestContext) -> Option<&str> {
    match context {
        ApiGatewayV2(context) => context.domain_name.as_deref(),
        ApiGatewayV1(context) => context.domain_name.as_deref(),
        _ => None,
    }
}

/// The scheme and host of a request; `None` if it has no host. In a chain of proxies, the first element of
/// `X-Forwarded-Proto` belongs to the proxy that the client reached.
fn origin_in(parts: &Parts) -> Option<String> {
    let host = host_of(&parts.uri, &parts.headers, parts.version).ok()??;
    let protos = parts.headers.get(FORWARDED_PROTO).and_then(|value| value.to_str().ok());
    let first_proto = protos.and_then(|protos| protos.split(',').next());
    let is_encrypted = first_proto.is_some_and(|proto| proto.trim().eq_ignore_ascii_case("https"));
    Some(format!("{}://{host}", if is_encrypted { "https" } else { "http" }))
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn address(uri: &str, headers: &[(&str, &str)]) -> String {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match PublicAddress::from_parts(&request.body(()).unwrap().into_parts().0) {
            PublicAddress::At(address) => address,
            PublicAddress::Nowhere => panic!("{uri} {headers:?} names no host"),
        }
    }

    #[test]
    fn the_scheme_comes_from_the_first_proxy() {
        for (protos, scheme) in [
            ("https", "https"),
            ("https, http", "https"),
            ("HTTPS ,http", "https"),
            ("http, https", "http"),
            (",https", "http"),
            ("javascript", "http"),
        ] {
            let proto = ("x-forwarded-proto", protos);
            let headers = [("host", "a.example"), ("x-forwarded-host", "evil.example"), proto];
            assert_eq!(address("/", &headers), format!("{scheme}://a.example"), "{protos}");
            let with_authority = address("http://b.example:8080/", &headers);
            assert_eq!(with_authority, format!("{scheme}://b.example:8080"), "{protos}");
        }
    }
}
