//! Charges requests against quotas.

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use axum::{extract::FromRequestParts, http::request::Parts};
use store::KeyRecord;

use super::KeyKind;
use crate::{
    errors::ApiError,
    quota::{QuotaExceeded, QuotaStatuses, Quotas},
};

/// The charge for a request. The middleware applies it, or the handler if the route counts items in the body. Empty
/// for a request without a key.
#[derive(Clone, Default)]
pub struct Charge(Option<Arc<KeyCharge>>);

struct KeyCharge {
    quotas: Arc<Quotas>,
    record: KeyRecord,
    /// Set once the request is charged or rejected.
    statuses: OnceLock<QuotaStatuses>,
}

impl<S: Sync> FromRequestParts<S> for Charge {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

impl Charge {
    pub(crate) fn for_key(quotas: &Arc<Quotas>, record: KeyRecord) -> Self {
        let (quotas, statuses) = (Arc::clone(quotas), OnceLock::new());
        Self(Some(Arc::new(KeyCharge { quotas, record, statuses })))
    }

    /// The kind of the key. A request without a key was authorized by IAM, and is real.
    pub(crate) fn key_kind(&self) -> KeyKind {
        self.0.as_ref().map_or_else(KeyKind::default, |charge| KeyKind::from_record(&charge.record))
    }

    /// Charges all `requests`, or none if they would exceed a quota.
    pub async fn charge_many(&self, requests: u64) -> Result<(), ApiError> {
        let Some(charge) = &self.0 else { return Ok(()) };
        let result = charge.quotas.take(&charge.record, requests).await;
        if let Some(statuses) = charge.record_rejection(result)? {
            _ = charge.statuses.set(statuses);
        }
        Ok(())
    }

    /// Rejects a request before its body is read if the quota is exhausted.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let Some(charge) = &self.0 else { return Ok(()) };
        charge.record_rejection(charge.quotas.check(&charge.record))
    }

    /// Charges one request if it was rejected before its handler charged it.
    pub(crate) async fn finalize(&self) {
        if self.0.as_ref().is_some_and(|charge| charge.statuses.get().is_none()) {
            // If other requests exhausted the quota in the meantime, the next request is rejected.
            _ = self.charge_many(1).await;
        }
    }

    /// The status of each quota after the charge; `None` if the key has no quotas.
    pub(crate) fn statuses(&self) -> Option<QuotaStatuses> {
        self.0.as_ref()?.statuses.get().copied()
    }
}

impl KeyCharge {
    /// Stores a rejection's statuses for the response headers.
    fn record_rejection<T>(&self, result: Result<T, QuotaExceeded>) -> Result<T, ApiError> {
        result.map_err(|exceeded| {
            _ = self.statuses.set(exceeded.statuses);
            ApiError::RateLimited(exceeded)
        })
    }
}
