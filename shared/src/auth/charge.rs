//! A request's credentials (an API key or IAM authorization) and its charge against quotas.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::{FromRequestParts, Request},
    http::{HeaderMap, request::Parts},
};
use parking_lot::Mutex;
use store::KeyRecord;

use super::{KeyKind, KeyRing};
use crate::{
    errors::ApiError,
    gateway::is_authorized_by_iam,
    params::{API_KEY, Params},
    quota::{QuotaStatuses, Quotas},
    request_context,
};

/// The number of requests that one request has been charged as so far. A request with a key is charged once, before its
/// body is read and its handler runs. If the work costs more, the handler raises the charge before it starts, so that
/// the work counts even if it fails or the client hangs up. Empty for a request without a key.
#[derive(Clone, Default)]
pub struct Charge(Option<Arc<KeyCharge>>);

struct KeyCharge {
    quotas: Arc<Quotas>,
    record: KeyRecord,
    /// Locked while the charge is raised.
    requests: tokio::sync::Mutex<u64>,
    /// The status of each quota after the last change.
    statuses: Mutex<Option<QuotaStatuses>>,
}

impl<S: Sync> FromRequestParts<S> for Charge {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

impl Charge {
    /// A charge against the key's quotas, starting at zero requests.
    pub fn for_key(quotas: &Arc<Quotas>, record: KeyRecord) -> Self {
        let (quotas, requests, statuses) = (Arc::clone(quotas), 0.into(), Mutex::default());
        Self(Some(Arc::new(KeyCharge { quotas, record, requests, statuses })))
    }

    /// The kind of key. A request without a key was authorized by IAM and counts as live.
    pub(crate) fn key_kind(&self) -> KeyKind {
        self.0.as_ref().map_or_else(KeyKind::default, |charge| KeyKind::from_record(&charge.record))
    }

    /// Raises the charge to this many requests in total, or leaves it unchanged if that would exceed a quota. Does
    /// nothing if the charge is already that high.
    pub async fn raise_to(&self, total: u64) -> Result<(), ApiError> {
        let Some(KeyCharge { quotas, record, requests, statuses }) = self.0.as_deref() else {
            return Ok(());
        };
        let mut charged = requests.lock().await;
        if total <= *charged {
            return Ok(());
        }
        match quotas.take(record, total - *charged, *charged).await {
            Ok(after) => {
                *charged = total;
                *statuses.lock() = after;
                Ok(())
            }
            Err(exceeded) => {
                *statuses.lock() = Some(exceeded.statuses);
                Err(ApiError::RateLimited(exceeded))
            }
        }
    }

    /// The requests left before a quota is exhausted, as of the last charge; `None` if the key has no quotas.
    pub fn min_remaining(&self) -> Option<u64> {
        Some(self.statuses()?.min_remaining())
    }

    /// The status of each quota as of the last charge; `None` if the key has no quotas.
    pub(crate) fn statuses(&self) -> Option<QuotaStatuses> {
        *self.0.as_ref()?.statuses.lock()
    }
}

/// The access log's key name for requests authorized by IAM.
const IAM_KEY_NAME: &str = "iam";

/// The request's key; `None` if IAM authorized it
/// ([decision 13](../../../docs/decisions/0013-probe-authentication.md)).
pub(crate) fn required_key(request: &Request) -> Result<Option<String>, ApiError> {
    if is_authorized_by_iam(request) {
        return Ok(None);
    }
    let key = find_key(request.headers(), &Params::from_uri(request.uri()))?;
    key.ok_or(ApiError::KeyRequired).map(Some)
}

/// Validates the key, and returns an empty charge for it. A request without a key was authorized by IAM.
pub(crate) async fn authenticate(
    keys: &KeyRing,
    quotas: &Arc<Quotas>,
    key: Option<String>,
) -> Result<Charge, ApiError> {
    let (name, charge) = match key {
        None => (IAM_KEY_NAME.to_owned(), Charge::default()),
        Some(key) => {
            let record = keys.validate(&key).await?;
            (record.prefix.clone(), Charge::for_key(quotas, record))
        }
    };
    request_context::record(|context| context.key = Some(name));
    Ok(charge)
}

/// Finds the key in the `Authorization` header, the `X-API-Key` header or the `apiKey` query parameter, in that
/// order.
fn find_key(headers: &HeaderMap, params: &Params) -> Result<Option<String>, ApiError> {
    // A key that is not UTF-8 is reported as invalid, not as missing.
    let header_text =
        |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let key_in_headers = header_text("authorization")
        .and_then(|value| bearer_token(&value).map(str::to_owned))
        .or_else(|| header_text("x-api-key").map(|value| value.trim().to_owned()));
    match key_in_headers.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None => params.text(API_KEY),
    }
}

/// The token after `Bearer`, a scheme name that is case-insensitive (RFC 9110, 11.1).
fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { Some(token.trim()) } else { None }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use store::Store;

    use super::*;
    use crate::auth::key_record;

    /// The table is unreachable, so the container counts only its own requests.
    #[tokio::test]
    async fn raising_a_charge_adds_the_difference_or_nothing_if_it_exceeds_a_quota() {
        let record = KeyRecord { per_day: Some(10), ..key_record("a") };
        let charge = Charge::for_key(&Arc::new(Quotas::new(Store::unreachable())), record);
        for (total, left) in [(1, 9), (4, 6), (4, 6), (2, 6)] {
            charge.raise_to(total).await.unwrap();
            assert_eq!(charge.min_remaining(), Some(left), "{total}");
        }
        let Err(ApiError::RateLimited(exceeded)) = charge.raise_to(11).await else {
            panic!("it fit")
        };
        // A retry needs the full number.
        assert_eq!((exceeded.requests, charge.min_remaining()), (11, Some(6)));
        charge.raise_to(10).await.unwrap();
        assert_eq!(charge.min_remaining(), Some(0));
        Charge::default().raise_to(u64::MAX).await.unwrap();
    }

    #[test]
    fn bearer_token_wins_over_x_api_key_and_the_parameter() {
        let [bearer, x_api_key] = [("authorization", "bearer  one "), ("x-api-key", " two")];
        for (headers, query, key) in [
            (&[bearer, x_api_key][..], "apiKey=three", Some("one")),
            (&[x_api_key], "apiKey=three", Some("two")),
            (&[], "apiKey=three", Some("three")),
            (&[], "", None),
            (&[("authorization", "Basic abc")], "apiKey=three", Some("three")),
            (&[("authorization", "Bearer "), x_api_key], "", Some("two")),
            (&[("x-api-key", "")], "", None),
        ] {
            let headers = headers
                .iter()
                .map(|&(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
                .collect();
            let found =
                find_key(&headers, &Params::from_uri(&format!("/?{query}").parse().unwrap()));
            assert_eq!(found.unwrap().as_deref(), key, "{headers:?} {query}");
        }
    }
}
