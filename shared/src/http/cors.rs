//! Cross-origin requests (<https://fetch.spec.whatwg.org/#http-cors-protocol>) and `OPTIONS`.

use std::{str::FromStr, sync::Arc};

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

use crate::endpoints::Endpoint;

/// The headers that a page may send.
const REQUEST_HEADERS: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept";
/// The headers that a page may send to a route that takes a body. MCP clients send the last three.
const REQUEST_HEADERS_WITH_BODY: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept, Content-Type, \
     MCP-Protocol-Version, Mcp-Method, Mcp-Name";
/// The methods for an unknown path.
const ANY_METHOD: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
/// The maximum time in seconds that browsers may cache a preflight response.
const MAX_AGE: &str = "86400";

/// The origins whose web pages may read responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedOrigins {
    Any,
    Listed(Arc<[HeaderValue]>),
}

/// The error for a list of origins that would block pages by mistake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it must be * or a comma-separated list of origins such as https://app.example.com")]
pub struct InvalidOrigins;

impl FromStr for AllowedOrigins {
    type Err = InvalidOrigins;

    /// Parses a comma-separated list. An empty list and `*` allow any origin.
    fn from_str(list: &str) -> Result<Self, InvalidOrigins> {
        if ["", "*"].contains(&list.trim()) {
            return Ok(Self::Any);
        }
        let origins = list.split(',').map(|origin| origin.trim().trim_end_matches('/'));
        let origins = origins.map(|origin| {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            let is_origin = origin.starts_with("http") && !host.is_empty() && !host.contains('/');
            let value = origin.to_ascii_lowercase().parse().ok();
            value.filter(|_| is_origin).ok_or(InvalidOrigins)
        });
        origins.collect::<Result<_, _>>().map(Self::Listed)
    }
}

impl AllowedOrigins {
    /// Returns `true` if the request has no `Origin`, or an allowed one.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).iter().all(|origin| self.allowed(Some(origin)).is_some())
    }

    /// The value of `Access-Control-Allow-Origin` for a request from `origin`.
    pub(crate) fn allowed(&self, origin: Option<&HeaderValue>) -> Option<HeaderValue> {
        match self {
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::Listed(origins) => origin.filter(|origin| origins.contains(origin)).cloned(),
        }
    }
}

/// Lets a page from an allowed origin read the response, including errors.
pub(crate) fn allow_origin(headers: &mut HeaderMap, allowed_origin: Option<HeaderValue>) {
    if let Some(origin) = allowed_origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // The wildcard includes all headers, since responses never allow credentials.
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    }
}

/// The response to `OPTIONS`; `None` for any other method, or for an unknown path. A preflight gets a response
/// even for an unknown path, since otherwise the page could not read the 404. Browsers send preflights without a key.
pub(crate) fn options_response(request: &Request, endpoint: Option<&Endpoint>) -> Option<Response> {
    if *request.method() != Method::OPTIONS {
        return None;
    }
    let headers = request.headers();
    if !headers.contains_key(ORIGIN) || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Some((StatusCode::NO_CONTENT, [(ALLOW, endpoint?.allow())]).into_response());
    }
    let takes_body = endpoint.is_none_or(Endpoint::takes_body);
    let request_headers = if takes_body { REQUEST_HEADERS_WITH_BODY } else { REQUEST_HEADERS };
    let allow = endpoint.map_or(ANY_METHOD, Endpoint::allow);
    let headers = [
        (ALLOW, allow.clone()),
        (ACCESS_CONTROL_ALLOW_METHODS, allow),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(request_headers)),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE)),
    ];
    Some((StatusCode::NO_CONTENT, headers).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case_table::rows;

    #[test]
    fn listed_origins_and_requests_without_an_origin_are_allowed() {
        for [list, origins, expected] in rows(include_str!("origins.txt")) {
            let lines = origins.split(", ").filter(|origin| *origin != "none");
            let headers = lines.map(|text| (ORIGIN, HeaderValue::from_str(text).unwrap()));
            let found = match list.parse::<AllowedOrigins>() {
                Ok(allowed) if allowed.admit(&headers.collect()) => "yes",
                Ok(_) => "no",
                Err(InvalidOrigins) => "invalid",
            };
            assert_eq!(found, expected, "{list} {origins}");
        }
    }
}
