//! Charges a request against its key's quotas.

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use axum::{extract::FromRequestParts, http::request::Parts};
use store::KeyRecord;

use crate::{
    errors::ApiError,
    quota::{QuotaExceeded, QuotaStatuses, Quotas},
};

/// The charge for one request. It is made once: by the middleware, or by the handler if the route counts body
/// items. Without a key, or with a key without quotas, nothing is counted.
#[derive(Clone, Default)]
pub struct Charge(Option<Arc<KeyCharge>>);

struct KeyCharge {
    quotas: Arc<Quotas>,
    record: KeyRecord,
    /// The statuses after the charge or refusal; empty until then.
    statuses: OnceLock<QuotaStatuses>,
}

/// The charge for the handler to make.
impl<S: Sync> FromRequestParts<S> for Charge {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

impl Charge {
    /// The charge for a request with this key.
    pub(crate) fn for_key(quotas: &Arc<Quotas>, record: KeyRecord) -> Self {
        let (quotas, statuses) = (Arc::clone(quotas), OnceLock::new());
        Self(Some(Arc::new(KeyCharge { quotas, record, statuses })))
    }

    /// Counts the request as `requests`, all or none.
    ///
    /// # Errors
    /// Returns [`ApiError::RateLimited`] if they exceed a quota of the key.
    pub async fn charge_many(&self, requests: u64) -> Result<(), ApiError> {
        let Some(charge) = &self.0 else { return Ok(()) };
        if let Some(after) =
            charge.record_refusal(charge.quotas.take(&charge.record, requests).await)?
        {
            _ = charge.statuses.set(after);
        }
        Ok(())
    }

    /// Rejects a request before its body is read if the quota is exhausted.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let Some(charge) = &self.0 else { return Ok(()) };
        charge.record_refusal(charge.quotas.check(&charge.record))
    }

    /// Counts the request as one if it was refused before its handler charged it.
    pub(crate) async fn finalize(&self) {
        if self.0.as_ref().is_some_and(|charge| charge.statuses.get().is_none()) {
            // The request is already answered. If other requests exhausted the quota meanwhile, the next one is
            // refused.
            _ = self.charge_many(1).await;
        }
    }

    /// The status of each quota after the charge; `None` if the key has no quotas.
    pub(crate) fn statuses(&self) -> Option<QuotaStatuses> {
        self.0.as_ref()?.statuses.get().copied()
    }
}

impl KeyCharge {
    /// Keeps the statuses of a refusal for the headers of the response.
    fn record_refusal<T>(&self, outcome: Result<T, QuotaExceeded>) -> Result<T, ApiError> {
        outcome.map_err(|exceeded| {
            _ = self.statuses.set(exceeded.statuses);
            ApiError::RateLimited(exceeded)
        })
    }
}
