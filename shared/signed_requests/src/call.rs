//! One call of an operation.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, Method, Response, StatusCode};

use crate::{AwsAccount, Service, SigningError};

/// The most bytes of an answer to an operation of AWS, by far.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;
/// The most bytes that are read of the reason for a refusal.
const MAX_REFUSAL_BYTES: usize = 64 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Signing(#[from] SigningError),
    #[error("{service:?} cannot be reached")]
    Transport { service: Service, source: reqwest::Error },
    #[error("{service:?} answers {status}: {body}")]
    Refused { service: Service, status: StatusCode, body: String },
}

/// A client with ring as its TLS.
pub fn client_builder() -> ClientBuilder {
    // This fails only if a provider is installed already, and all installed ones are the same.
    _ = rustls::crypto::ring::default_provider().install_default();
    let agent = concat!("telephone-number-reference/", env!("CARGO_PKG_VERSION"));
    Client::builder().user_agent(agent).connect_timeout(CONNECT_TIMEOUT)
}

impl AwsAccount {
    /// Calls an operation and gives its response, which may take `timeout` as a whole. `path` begins
    /// with a slash, is encoded, and may have a query.
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
        let unreachable = |source| CallError::Transport { service, source };
        let mut request = self.client.request(method, address).headers(signature).timeout(timeout);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.body(body).send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = first_bytes(response, MAX_REFUSAL_BYTES).await.map_err(unreachable)?;
        let body = String::from_utf8_lossy(&body).into_owned();
        Err(CallError::Refused { service, status, body })
    }
}

/// Reads the body of a response to its end, but at most its first `max` bytes.
pub async fn first_bytes(mut response: Response, max: usize) -> reqwest::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await? {
        let room = max - bytes.len();
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        if bytes.len() == max {
            break;
        }
    }
    Ok(bytes)
}
