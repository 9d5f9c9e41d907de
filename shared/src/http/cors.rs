//! Cross-origin requests (<https://fetch.spec.whatwg.org/#http-cors-protocol>) and `OPTIONS`.

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

use crate::route_table::{RouteSpec, RouteTable, UNKNOWN_PATH};

/// The headers that a page may send.
const REQUEST_HEADERS: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept";
/// The headers that a page may send to a route that takes a body. MCP clients send the last three.
const REQUEST_HEADERS_WITH_BODY: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept, Content-Type, \
     MCP-Protocol-Version, Mcp-Method, Mcp-Name";
/// The maximum time in seconds that browsers may cache a preflight response.
const MAX_AGE: &str = "86400";

/// Lets a page from an allowed origin read the response, including errors.
pub fn allow_origin(headers: &mut HeaderMap, allowed_origin: Option<HeaderValue>) {
    if let Some(origin) = allowed_origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // The wildcard includes all headers, since responses never allow credentials.
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    }
}

/// The response to `OPTIONS`; `None` for any other method, or for an unknown path. A preflight gets a response
/// even for an unknown path, since otherwise the page could not read the 404. Browsers send preflights without a key.
pub fn options_response(request: &Request, routes: &RouteTable) -> Option<Response> {
    if *request.method() != Method::OPTIONS {
        return None;
    }
    let (route, headers) = (routes.find(request), request.headers());
    if headers.contains_key(ORIGIN) && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Some(preflight_response(route.unwrap_or(&UNKNOWN_PATH)));
    }
    Some((StatusCode::NO_CONTENT, [(ALLOW, route?.allow.clone())]).into_response())
}

fn preflight_response(route: &RouteSpec) -> Response {
    let RouteSpec { allow, takes_body, .. } = route;
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
    use axum::body::Body;

    use super::*;

    /// A preflight has both headers.
    #[test]
    fn only_preflights_succeed_for_unknown_paths() {
        let routes = RouteTable::new(&[]);
        let method = ACCESS_CONTROL_REQUEST_METHOD;
        for (headers, is_preflight) in
            [(&[ORIGIN, method.clone()][..], true), (&[ORIGIN], false), (&[method], false)]
        {
            let mut request = Request::new(Body::empty());
            *request.method_mut() = Method::OPTIONS;
            for name in headers {
                request.headers_mut().insert(name, HeaderValue::from_static("GET"));
            }
            assert_eq!(options_response(&request, &routes).is_some(), is_preflight, "{headers:?}");
        }
    }
}
