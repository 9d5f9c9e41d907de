//! Allowed origins for cross-origin requests (<https://fetch.spec.whatwg.org/#http-cors-protocol>).

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header::ORIGIN};

/// The origins whose web pages may read responses.
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
            let headers = origins.iter().map(|text| (ORIGIN, HeaderValue::from_static(text)));
            let is_admitted = AllowedOrigins::parse(list).admit(&headers.collect());
            assert_eq!(is_admitted, is_allowed, "{list} {origins:?}");
        }
        let listed = AllowedOrigins::parse(list);
        assert!(listed.admit(&HeaderMap::new()) && listed.allowed(None).is_none());
        assert_eq!(AllowedOrigins::parse("*").allowed(None).unwrap(), "*");
    }
}
