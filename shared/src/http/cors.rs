//! Cross-origin requests (<https://fetch.spec.whatwg.org/#http-cors-protocol>), and `OPTIONS`.

use std::sync::Arc;

use axum::{
    extract::Request,
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

use crate::described_routes::{DescribedRoute, DescribedRoutes, UNKNOWN_PATH};

/// The headers that a page may send. Responses never allow credentials: the key is sent in a header, never as a
/// cookie.
const REQUEST_HEADERS: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept";
/// The headers that a page may send to a route that takes a body; agents send the last three.
const REQUEST_HEADERS_WITH_BODY: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept, Content-Type, \
     MCP-Protocol-Version, Mcp-Method, Mcp-Name";
/// Maximum time that a browser may cache the answer, in seconds. Browsers may use less.
const MAX_AGE: &str = "86400";

/// The origins whose pages may read responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    Any,
    Listed(Arc<[HeaderValue]>),
}

impl AllowedOrigins {
    /// Parses a comma-separated list of origins, such as `https://a.example,https://b.example`; `*` allows any.
    pub fn parse(list: &str) -> Self {
        if list.trim() == "*" {
            return Self::Any;
        }
        let origins = list.split(',').map(|origin| origin.trim().trim_end_matches('/'));
        let values = origins.filter_map(|origin| origin.to_ascii_lowercase().parse().ok());
        Self::Listed(values.filter(|value: &HeaderValue| !value.is_empty()).collect())
    }

    /// Returns `true` if the request does not come from a page, or the page's origin is allowed.
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
        // All headers. The wildcard works because responses never allow credentials.
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    }
}

/// The response to `OPTIONS`: to a preflight, which browsers send without a key, for any path, and otherwise
/// for paths that exist. If a preflight were refused, a page could not even learn that its path does not exist.
pub fn options_response(request: &Request, routes: &DescribedRoutes) -> Option<Response> {
    if *request.method() != Method::OPTIONS {
        return None;
    }
    let (route, headers) = (routes.find(request), request.headers());
    if headers.contains_key(ORIGIN) && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Some(preflight_response(route.unwrap_or(&UNKNOWN_PATH)));
    }
    Some((StatusCode::NO_CONTENT, [(ALLOW, route?.allow.clone())]).into_response())
}

/// The response to a preflight.
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

    #[test]
    fn listed_origins_and_non_browser_clients_are_allowed() {
        let list = "https://a.example, HTTPS://B.example:8443/ ,";
        for (list, origins, is_allowed) in [
            (" * ", &["https://a.example"][..], true),
            (list, &["https://a.example"], true),
            (list, &["https://b.example:8443"], true),
            (list, &["https://c.example"], false),
            (list, &["http://a.example"], false),
            (list, &["null"], false),
            (list, &[""], false),
            (list, &["https://a.example", "null"], false),
            ("", &["https://a.example"], false),
        ] {
            let (allowed, values) = (
                AllowedOrigins::parse(list),
                origins.iter().map(|text| HeaderValue::from_static(text)),
            );
            let headers = values.map(|value| (ORIGIN, value)).collect();
            assert_eq!(allowed.admit(&headers), is_allowed, "{list} {origins:?}");
        }
        let listed = AllowedOrigins::parse(list);
        assert!(listed.admit(&HeaderMap::new()) && listed.allowed(None).is_none());
        assert_eq!(AllowedOrigins::parse("*").allowed(None).unwrap(), "*");
    }
}
