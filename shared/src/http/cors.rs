//! Cross-origin requests (<https://fetch.spec.whatwg.org/#http-cors-protocol>).

use std::{str::FromStr, sync::Arc};

use axum::http::{
    HeaderMap, HeaderValue,
    header::{ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ORIGIN},
};

/// The origins whose web pages may read responses: any by default, since requests need a key anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AllowedOrigins {
    #[default]
    Any,
    Listed(Arc<[HeaderValue]>),
}

impl FromStr for AllowedOrigins {
    type Err = &'static str;

    /// Parses a comma-separated list. An empty list and `*` allow any origin. A list that would block pages
    /// unintentionally is invalid.
    fn from_str(list: &str) -> Result<Self, Self::Err> {
        if ["", "*"].contains(&list.trim()) {
            return Ok(Self::Any);
        }
        let origins = list.split(',').map(|origin| origin.trim().trim_end_matches('/'));
        let origins = origins.map(|origin| {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            let is_origin = origin.starts_with("http") && !host.is_empty() && !host.contains('/');
            let value = origin.to_ascii_lowercase().parse().ok();
            value.filter(|_| is_origin)
        });
        origins.collect::<Option<_>>().map(Self::Listed).ok_or(
            "it must be * or a comma-separated list of origins such as https://app.example.com",
        )
    }
}

impl AllowedOrigins {
    /// Returns `true` if the request has no `Origin` header, or an allowed one.
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

/// Allows a page from an allowed origin to read the response, including errors.
pub(crate) fn allow_origin(headers: &mut HeaderMap, allowed_origin: Option<HeaderValue>) {
    if let Some(origin) = allowed_origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // The wildcard covers all headers, because responses never allow credentials.
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    }
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
                Err(_) => "invalid",
            };
            assert_eq!(found, expected, "{list} {origins}");
        }
    }
}
