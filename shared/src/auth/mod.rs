//! Who may ask: the key of a request, and whether it opens the API (spec section 5).

mod api_key;

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use jiff::Timestamp;
use moka::future::Cache;

use crate::{
    app::App,
    errors::ApiError,
    params::{API_KEY, Params},
    store::{KeyRecord, Store, StoreError},
    telemetry,
};

pub use api_key::{ApiKey, MalformedKey, PREFIX_CHARACTERS, SECRET_CHARACTERS};

const REQUIRED: &str = "API key required: send it as 'Authorization: Bearer <API_KEY>', \
                        as 'X-API-Key: <API_KEY>' or as the query parameter apiKey";
const INVALID: &str = "Invalid API key";

/// How long a key is believed without asking again; a revoked one stops working within it.
const BELIEVED_FOR: Duration = Duration::from_secs(60);
/// How long a key that was live is believed while its table does not answer, so that lists and
/// lookups from memory outlast a failure of DynamoDB.
const BELIEVED_IN_AN_OUTAGE_FOR: Duration = Duration::from_secs(15 * 60);
/// How long a well-formed key that is not in the table is refused without asking again. The checksum
/// is public, so anybody can make such keys; one that is created works as soon.
const REFUSED_FOR: Duration = Duration::from_secs(10);
const MOST_KEYS_IN_MEMORY: u64 = 10_000;

/// Authenticates the request, counts it, and marks the response `Cache-Control: private`.
///
/// # Errors
/// Returns an error if the request has no key or one that is not live (401), if a quota of the key
/// is exhausted (429), or if the table of keys cannot be read (503).
pub async fn require_key(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = key_of(request.headers(), &Params::of(request.uri()))?;
    let key = key.ok_or(ApiError::Unauthorized(REQUIRED))?;
    let key = app.keys.admit(&key).await?;
    telemetry::note(|facts| facts.key = Some(key.prefix.clone()));
    let quotas = app.quotas.take(&key, Timestamp::now()).map_err(ApiError::RateLimited)?;
    // Already now, since what follows does not run if the client hangs up.
    app.quotas.write_soon(&key);
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    if let Some(statuses) = quotas {
        statuses.set_rate_limit_headers(response.headers_mut());
    }
    Ok(response)
}

/// The key a request brings: the `Authorization` header before `X-API-Key` before `apiKey`.
fn key_of(headers: &HeaderMap, params: &Params) -> Result<Option<String>, ApiError> {
    // bytes that are no text are a key all the same: an invalid one, not a missing one
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let bearer = text("authorization").and_then(|value| bearer(&value).map(str::to_owned));
    let header = bearer.or_else(|| text("x-api-key").map(|value| value.trim().to_owned()));
    match header.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None => params.text(API_KEY),
    }
}

/// The token of a `Bearer` scheme, whose name is matched without case (RFC 9110, 11.1).
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn remembering_for<V: Clone + Send + Sync + 'static>(time: Duration) -> Cache<String, V> {
    Cache::builder().max_capacity(MOST_KEYS_IN_MEMORY).time_to_live(time).build()
}

/// The keys that have been looked up lately.
pub struct KeyRing {
    store: Store,
    /// What a key is taken for without a read.
    known: Cache<String, KeyRecord>,
    /// What the table last said of a key.
    read: Cache<String, KeyRecord>,
    /// Keys that the table did not have a moment ago.
    unknown: Cache<String, ()>,
}

#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("no such key")]
    Unknown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl KeyRing {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: remembering_for(BELIEVED_FOR),
            read: remembering_for(BELIEVED_IN_AN_OUTAGE_FOR),
            unknown: remembering_for(REFUSED_FOR),
        }
    }

    /// Checks the key a client sent: its form, then its record, read once a minute at most.
    async fn admit(&self, key: &str) -> Result<KeyRecord, ApiError> {
        let key: ApiKey = key.parse().map_err(|_| ApiError::Unauthorized(INVALID))?;
        let hash = key.hash();
        if self.unknown.contains_key(&hash) {
            return Err(ApiError::Unauthorized(INVALID));
        }
        let record = self.known.try_get_with_by_ref(&hash, self.look_up(&hash)).await;
        match record.as_ref().map_err(Arc::as_ref) {
            Ok(record) if record.is_live(Timestamp::now()) => Ok(record.clone()),
            Ok(_) | Err(Refusal::Unknown) => Err(ApiError::Unauthorized(INVALID)),
            Err(Refusal::Store(error)) => {
                tracing::error!(%error, "a key cannot be checked");
                Err(ApiError::Unavailable)
            }
        }
    }

    async fn look_up(&self, hash: &str) -> Result<KeyRecord, Refusal> {
        match (self.store.api_key(hash).await, self.read.get(hash).await) {
            (Ok(Some(record)), _) => {
                self.read.insert(hash.to_owned(), record.clone()).await;
                Ok(record)
            }
            (Ok(None), _) => {
                self.read.invalidate(hash).await;
                self.unknown.insert(hash.to_owned(), ()).await;
                Err(Refusal::Unknown)
            }
            (Err(error), Some(record)) => {
                tracing::error!(%error, key = record.prefix, "a key is believed unchecked");
                Ok(record)
            }
            (Err(error), None) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_from(headers: &[(&'static str, &'static str)], query: &str) -> Option<String> {
        let headers = headers
            .iter()
            .map(|&(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect();
        key_of(&headers, &Params::of(&format!("/?{query}").parse().unwrap())).unwrap()
    }

    #[test]
    fn bearer_comes_before_x_api_key_before_the_query() {
        let (bearer, x_api_key) = (("authorization", "Bearer one"), ("x-api-key", "two"));
        assert_eq!(key_from(&[bearer, x_api_key], "apiKey=three").as_deref(), Some("one"));
        assert_eq!(key_from(&[x_api_key], "apiKey=three").as_deref(), Some("two"));
        assert_eq!(key_from(&[], "apiKey=three").as_deref(), Some("three"));
        assert_eq!(key_from(&[], ""), None);
    }

    #[test]
    fn another_scheme_is_passed_over_and_the_scheme_has_no_case() {
        assert_eq!(key_from(&[("authorization", "Basic abc")], "apiKey=k").as_deref(), Some("k"));
        assert_eq!(key_from(&[("authorization", "bearer  k ")], "").as_deref(), Some("k"));
        assert_eq!(key_from(&[("authorization", "Bearer ")], ""), None);
        assert_eq!(key_from(&[("x-api-key", "")], ""), None);
    }
}
