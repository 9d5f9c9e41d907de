//! Calls AWS operations.

use std::{error::Error, time::Duration};

use reqwest::{Client, ClientBuilder, Method, Response, StatusCode};

use crate::{AwsAccount, Service};

/// The maximum size of an AWS response, far larger than any that this service reads.
pub const MAX_RESPONSE_BYTES: usize = 16 << 20;
const MAX_ERROR_BODY_BYTES: usize = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("the request cannot be signed")]
    Signing(#[source] Box<dyn Error + Send + Sync>),
    #[error("{service:?} cannot be reached")]
    Transport { service: Service, source: reqwest::Error },
    #[error("{service:?} returned {status}: {body}")]
    Refused { service: Service, status: StatusCode, body: String },
}

/// Creates a client that uses `ring` for TLS.
pub fn client_builder() -> ClientBuilder {
    // Fails only if a provider is already installed, and that is always this one.
    _ = rustls::crypto::ring::default_provider().install_default();
    let agent = concat!("telephone-number-reference/", env!("CARGO_PKG_VERSION"));
    Client::builder().user_agent(agent).connect_timeout(CONNECT_TIMEOUT)
}

impl AwsAccount {
    /// Calls an operation and returns its response. `path` starts with a slash, is encoded, and may include a query.
    pub async fn call(
        &self,
        service: Service,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Response, CallError> {
        let address = format!("{}{path}", service.endpoint(self.region()));
        let signature = self.signed_headers(service, method.as_str(), &address, headers, &body)?;
        let transport_error = |source| CallError::Transport { service, source };
        let mut request = self.client.request(method, address).headers(signature).timeout(timeout);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.body(body).send().await.map_err(transport_error)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = first_bytes(response, MAX_ERROR_BODY_BYTES).await.map_err(transport_error)?;
        let body = String::from_utf8_lossy(&body).into_owned();
        Err(CallError::Refused { service, status, body })
    }
}

/// Reads at most the first `max` bytes of a response body.
pub async fn first_bytes(mut response: Response, max: usize) -> reqwest::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < max
        && let Some(part) = response.chunk().await?
    {
        bytes.extend_from_slice(&part);
    }
    bytes.truncate(max);
    Ok(bytes)
}
