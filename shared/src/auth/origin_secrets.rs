//! The origin secret. Whatever is in front of API Gateway, such as CloudFront, adds it to each request, so that
//! nobody can bypass it and its limits.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::HeaderValue,
    middleware::Next,
    response::Response,
};
use subtle::{Choice, ConstantTimeEq};

use crate::{
    errors::ApiError,
    gateway::{is_authorized_by_iam, is_behind_gateway},
    http::{AllowedOrigins, refusal},
};

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

    /// Returns `true` if a header matches one of the secrets. The comparison time reveals at most a secret's
    /// length.
    fn admit(&self, header: Option<&HeaderValue>) -> bool {
        let sent = header.map(HeaderValue::as_bytes).unwrap_or_default();
        let equal = self.0.iter().map(|secret| secret.as_bytes().ct_eq(sent));
        equal.fold(Choice::from(0), |any, is_equal| any | is_equal).into()
    }
}

/// Rejects requests from API Gateway without the secret, whatever the path. Requests authorized by IAM do not
/// come from outside.
pub(crate) async fn require_secret(
    State((secrets, allowed_origins)): State<(OriginSecrets, AllowedOrigins)>,
    request: Request,
    next: Next,
) -> Response {
    let is_admitted = !is_behind_gateway(&request)
        || is_authorized_by_iam(&request)
        || secrets.admit(request.headers().get(ORIGIN_SECRET));
    if !is_admitted {
        return refusal(request.headers(), ApiError::Forbidden, &allowed_origins);
    }
    next.run(request).await
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
            assert_eq!(secrets.admit(header.as_ref()), is_admitted, "{sent:?}");
        }
        for none in ["", " ", " , "] {
            assert_eq!(OriginSecrets::parse(none).to_send(), None, "'{none}'");
        }
    }
}
