//! The origin secret, which a proxy in front of API Gateway, such as CloudFront, adds to each request, so that
//! clients cannot bypass the proxy.

use std::sync::Arc;

use axum::{extract::Request, http::HeaderValue};
use subtle::{Choice, ConstantTimeEq};

use crate::gateway::is_authorized_by_iam;

pub const ORIGIN_SECRET: &str = "x-origin-secret";

/// The accepted secrets: two during a rotation. Does not implement `Debug`, to keep them out of logs.
#[derive(Clone)]
pub struct OriginSecrets(Arc<[String]>);

impl OriginSecrets {
    /// Parses a comma-separated list of secrets.
    pub fn parse(list: &str) -> Self {
        let secrets = list.split(',').map(str::trim).filter(|secret| !secret.is_empty());
        Self(secrets.map(str::to_owned).collect())
    }

    /// The secret to send, if one is required: the oldest, since functions that do not have the newest yet may still
    /// be running.
    pub fn secret_to_send(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// Returns `true` if a request from API Gateway may pass. Those authorized by IAM are internal.
    pub(crate) fn admit(&self, request: &Request) -> bool {
        self.0.is_empty()
            || is_authorized_by_iam(request)
            || self.contains(request.headers().get(ORIGIN_SECRET))
    }

    /// Returns `true` if the header matches a secret. The time this takes reveals at most a secret's length.
    fn contains(&self, header: Option<&HeaderValue>) -> bool {
        let sent = header.map(HeaderValue::as_bytes).unwrap_or_default();
        let equal = self.0.iter().map(|secret| secret.as_bytes().ct_eq(sent));
        equal.fold(Choice::from(0), |any, is_equal| any | is_equal).into()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn requests_pass_with_a_secret_or_if_none_is_required() {
        let request =
            |secret| Request::builder().header(ORIGIN_SECRET, secret).body(Body::empty()).unwrap();
        for (list, sent, is_admitted) in
            [("", "", true), ("secret", "", false), ("secret", "secret", true)]
        {
            let secrets = OriginSecrets::parse(list);
            assert_eq!(secrets.admit(&request(sent)), is_admitted, "{list} {sent}");
        }
    }

    #[test]
    fn only_a_whole_secret_matches() {
        let secrets = OriginSecrets::parse("new-secret, old-secret");
        assert_eq!(secrets.secret_to_send(), Some("old-secret"));
        for (sent, is_admitted) in [
            (Some("old-secret"), true),
            (Some("new-secret"), true),
            (None, false),
            (Some(""), false),
            (Some("old"), false),
            (Some("new-secret, old-secret"), false),
            (Some("Old-Secret"), false),
        ] {
            let header = sent.map(HeaderValue::from_static);
            assert_eq!(secrets.contains(header.as_ref()), is_admitted, "{sent:?}");
        }
        for none in ["", " ", " , "] {
            assert_eq!(OriginSecrets::parse(none).secret_to_send(), None, "'{none}'");
        }
    }
}
