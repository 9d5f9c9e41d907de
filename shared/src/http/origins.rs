//! Allowed origins for cross-origin requests (<https://fetch.spec.whatwg.org/#http-cors-protocol>).

use std::{str::FromStr, sync::Arc};

use axum::http::{HeaderMap, HeaderValue, header::ORIGIN};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_origins_and_requests_without_an_origin_are_allowed() {
        let parse = |list: &str| list.parse::<AllowedOrigins>();
        let list = "https://a.example, https://B.example:8443/";
        for (list, origins, is_allowed) in [
            (" * ", &["https://a.example"][..], true),
            (list, &["https://a.example"], true),
            (list, &["https://b.example:8443"], true),
            (list, &["https://c.example"], false),
            (list, &["http://a.example"], false),
            (list, &["null"], false),
            (list, &[""], false),
            (list, &["https://a.example", "null"], false),
            ("", &["https://a.example"], true),
        ] {
            let headers = origins.iter().map(|text| (ORIGIN, HeaderValue::from_static(text)));
            let is_admitted = parse(list).unwrap().admit(&headers.collect());
            assert_eq!(is_admitted, is_allowed, "{list} {origins:?}");
        }
        let listed = parse(list).unwrap();
        assert!(listed.admit(&HeaderMap::new()) && listed.allowed(None).is_none());
        assert_eq!(parse("*").unwrap().allowed(None).unwrap(), "*");
        for invalid in ["app", ",", "https://", "https://a.example/app", "*,https://a.example"] {
            assert_eq!(parse(invalid), Err(InvalidOrigins), "{invalid}");
        }
    }
}
