//! The origin secret. Whatever is in front of API Gateway, such as CloudFront, adds it to each request, so that
//! nobody can bypass it and its limits.

use std::sync::Arc;

use axum::{extract::Request, http::HeaderValue};
use subtle::{Choice, ConstantTimeEq};

use crate::gateway::is_authorized_by_iam;

/// The header that carries the secret.
pub const ORIGIN_SECRET: &str = "x-origin-secret";

/// The accepted secrets: two while one is being rotated. There is no `Debug` form, to keep them out of logs.
#[derive(Clone)]
pub struct OriginSecrets(Arc<[String]>);

impl OriginSecrets {
    /// Parses a comma-separated list of secrets.
    pub fn parse(list: &str) -> Self {
        let secrets = list.split(',').map(str::trim).filter(|secret| !secret.is_empty());
        Self(secrets.map(str::to_owned).collect())
    }

    /// The secret to send, if one is required. It is the oldest one, since versions that do not know the newest
    /// may still be serving.
    pub fn to_send(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// Returns `true` if a request from API Gateway may pass. Requests authorized by IAM do not come from outside.
    pub(crate) fn admit(&self, request: &Request) -> bool {
        self.0.is_empty()
            || is_authorized_by_iam(request)
            || self.contain(request.headers().get(ORIGIN_SECRET))
    }

    /// Returns `true` if a header matches one of the secrets. The comparison time reveals at most a secret's
    /// length.
    fn contain(&self, header: Option<&HeaderValue>) -> bool {
        let sent = header.map(HeaderValue::as_bytes).unwrap_or_default();
        let equal = self.0.iter().map(|secret| secret.as_bytes().ct_eq(sent));
        equal.fold(Choice::from(0), |any, is_equal| any | is_equal).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_secret_must_match() {
        let secrets = OriginSecrets::parse("new-secret, old-secret");
        assert_eq!(secrets.to_send(), Some("old-secret"));
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
            assert_eq!(secrets.contain(header.as_ref()), is_admitted, "{sent:?}");
        }
        for none in ["", " ", " , "] {
            assert_eq!(OriginSecrets::parse(none).to_send(), None, "'{none}'");
        }
    }
}
