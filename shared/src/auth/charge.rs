//! The charge of a request against the quotas of its key.

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use axum::{extract::FromRequestParts, http::request::Parts};
use store::KeyRecord;

use crate::{
    errors::ApiError,
    quota::{QuotaStatuses, Quotas},
};

/// The charge for one request. It is made once: by the middleware, or by the handler of a route that counts the
/// items in a body. Without a key, or with one that has no quotas, nothing is counted.
#[derive(Clone, Default)]
pub struct Charge(Option<Arc<KeyCharge>>);

struct KeyCharge {
    quotas: Arc<Quotas>,
    record: KeyRecord,
    /// The statuses after the charge or the refusal; empty until then.
    statuses: OnceLock<QuotaStatuses>,
}

/// The charge that the handler is to make.
impl<S: Sync> FromRequestParts<S> for Charge {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

impl Charge {
    /// A charge for a request with the key of `record`.
    pub(crate) fn for_key(quotas: &Arc<Quotas>, record: KeyRecord) -> Self {
        let (quotas, statuses) = (Arc::clone(quotas), OnceLock::new());
        Self(Some(Arc::new(KeyCharge { quotas, record, statuses })))
    }

    /// Counts the request as `requests`, all or none.
    ///
    /// # Errors
    /// Returns [`ApiError::RateLimited`] if they do not fit into a quota of the key.
    pub async fn charge_many(&self, requests: u64) -> Result<(), ApiError> {
        let Some(charge) = &self.0 else { return Ok(()) };
        let KeyCharge { quotas, record, statuses } = &**charge;
        match quotas.take(record, requests).await {
            Ok(Some(after)) => _ = statuses.set(after),
            Ok(None) => (),
            Err(exceeded) => {
                _ = statuses.set(exceeded.statuses);
                return Err(ApiError::RateLimited(exceeded));
            }
        }
        Ok(())
    }

    /// Refuses a request before its body is read, if not even one more is admitted.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let Some(charge) = &self.0 else { return Ok(()) };
        charge.quotas.check(&charge.record).map_err(|exceeded| {
            _ = charge.statuses.set(exceeded.statuses);
            ApiError::RateLimited(exceeded)
        })
    }

    /// Counts the request as one if its handler has not counted it: it was refused before.
    pub(crate) async fn finalize(&self) {
        if self.0.as_ref().is_some_and(|charge| charge.statuses.get().is_none()) {
            // The request has its answer. If other requests have exhausted the quota meanwhile, the
            // next one is refused.
            _ = self.charge_many(1).await;
        }
    }

    /// The status of each quota after the charge; `None` for a key without quotas.
    pub(crate) fn statuses(&self) -> Option<QuotaStatuses> {
        self.0.as_ref()?.statuses.get().copied()
    }
}
