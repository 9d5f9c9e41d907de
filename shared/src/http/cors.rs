//! Cross-origin requests of browsers (<https://fetch.spec.whatwg.org/#http-cors-protocol>), and
//! `OPTIONS`.
//!
//! The layer of `tower-http` is not used: it answers every `OPTIONS` as a preflight, and so without
//! `Allow`, and with success even if no browser asks about an unknown path.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
            ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN,
        },
    },
    response::{IntoResponse, Response},
};

use crate::described_routes::{DescribedRoute, DescribedRoutes};

/// The headers that a page may send. No response ever allows credentials: the key is sent in a header,
/// and never as a cookie.
const REQUEST_HEADERS: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept";
/// The headers that a page may send to a route that takes a body; the last three are those of agents.
const REQUEST_HEADERS_WITH_BODY: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept, Content-Type, \
     MCP-Protocol-Version, Mcp-Method, Mcp-Name";
/// How long a browser may remember the answer, in seconds. Browsers shorten it as they like.
const MAX_AGE: &str = "86400";

/// The origins whose pages may read responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    Any,
    Listed(Arc<[HeaderValue]>),
}

impl AllowedOrigins {
    /// The origins in a list with commas, such as `https://a.example,https://b.example`; `*` stands
    /// for any.
    pub fn of(list: &str) -> Self {
        if list.trim() == "*" {
            return Self::Any;
        }
        let origins = list.split(',').map(|origin| origin.trim().trim_end_matches('/'));
        let values = origins.filter_map(|origin| origin.to_ascii_lowercase().parse().ok());
        Self::Listed(values.filter(|value: &HeaderValue| !value.is_empty()).collect())
    }

    /// Whether a request with these headers comes from no page, or from one of an allowed origin.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).iter().all(|origin| self.allowed(Some(origin)).is_some())
    }

    /// The value of `Access-Control-Allow-Origin` for a request from `origin`.
    pub(super) fn allowed(&self, origin: Option<&HeaderValue>) -> Option<HeaderValue> {
        match self {
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::Listed(origins) => origin.filter(|origin| origins.contains(origin)).cloned(),
        }
    }
}

/// Lets a page of an allowed origin read the response, including errors.
pub fn allow_origin(headers: &mut HeaderMap, allowed_origin: Option<HeaderValue>) {
    if let Some(origin) = allowed_origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // Every header. The wildcard holds, since no response allows credentials.
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    }
}

/// The response to `OPTIONS`, whoever asks: to a preflight, which browsers send without a key, for any
/// path, and to any other for a path that exists. After a refusal of a preflight a page would not even
/// learn that its path does not exist.
pub fn options_response(request: &Request, routes: &DescribedRoutes) -> Option<Response> {
    if *request.method() != Method::OPTIONS {
        return None;
    }
    let (route, headers) = (routes.route_of(request), request.headers());
    if headers.contains_key(ORIGIN) && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Some(preflight_response(route));
    }
    let exists = request.extensions().get::<MatchedPath>().is_some();
    exists.then(|| (StatusCode::NO_CONTENT, [(ALLOW, route.allow.clone())]).into_response())
}

/// The answer to a browser that asks before it sends a request.
fn preflight_response(route: &DescribedRoute) -> Response {
    let DescribedRoute { allow, takes_body, .. } = route;
    let request_headers = if *takes_body { REQUEST_HEADERS_WITH_BODY } else { REQUEST_HEADERS };
    let headers = [
        (ALLOW, allow.clone()),
        (ACCESS_CONTROL_ALLOW_METHODS, allow.clone()),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(request_headers)),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE)),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(list: &str, origin: &'static str) -> Option<HeaderValue> {
        AllowedOrigins::of(list).allowed(Some(&HeaderValue::from_static(origin)))
    }

    #[test]
    fn an_asterisk_allows_any_origin() {
        assert_eq!(allowed("*", "https://a.example").unwrap(), "*");
        assert_eq!(AllowedOrigins::of(" * ").allowed(None).unwrap(), "*");
    }

    #[test]
    fn a_list_allows_only_its_origins() {
        let list = "https://a.example, HTTPS://B.example:8443/ ,";
        for origin in ["https://a.example", "https://b.example:8443"] {
            assert_eq!(allowed(list, origin).unwrap(), origin);
        }
        for origin in ["https://c.example", "http://a.example", "null", ""] {
            assert_eq!(allowed(list, origin), None, "{origin}");
        }
        assert_eq!(allowed("", "https://a.example"), None);
        assert_eq!(AllowedOrigins::of(list).allowed(None), None);
    }

    #[test]
    fn requests_are_admitted_from_allowed_origins_and_from_outside_of_browsers() {
        for (origins, is_admitted) in [
            (&[][..], true),
            (&["https://a.example"], true),
            (&["https://b.example"], false),
            (&["https://a.example", "null"], false),
        ] {
            let values = origins.iter().map(|&origin| (ORIGIN, HeaderValue::from_static(origin)));
            let headers: HeaderMap = values.collect();
            let listed = AllowedOrigins::of("https://a.example");
            assert_eq!(listed.admit(&headers), is_admitted, "{origins:?}");
            assert!(AllowedOrigins::Any.admit(&headers), "{origins:?}");
        }
    }
}
