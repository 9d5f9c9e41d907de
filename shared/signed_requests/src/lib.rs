//! Signed requests to AWS services (Signature Version 4). This service needs only a few operations from each. The
//! SDKs would add minutes of build time and megabytes of code.

mod service;

use std::{
    error::Error,
    time::{Duration, SystemTime},
};

use aws_config::{BehaviorVersion, SdkConfig};
use aws_credential_types::{
    Credentials,
    provider::{ProvideCredentials, error::CredentialsError},
};
use aws_sigv4::{
    http_request::{
        PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
        UriPathNormalizationMode, sign,
    },
    sign::v4,
};
use reqwest::{
    Client, ClientBuilder, Method, Response, StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use store::{TrustedRoots, https_client};

pub use service::{Service, domain};

/// The maximum size of an AWS response, far above any that this service reads.
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
    // Fails only if a provider is already installed. That is always this one.
    _ = rustls::crypto::ring::default_provider().install_default();
    let agent = concat!("telephone-number-reference/", env!("CARGO_PKG_VERSION"));
    Client::builder().user_agent(agent).connect_timeout(CONNECT_TIMEOUT)
}

/// The region or credentials are missing or invalid.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    #[error("no region is set; set AWS_REGION")]
    NoRegion,
    #[error("no AWS credentials were found; configure them as for the AWS CLI")]
    NoCredentials,
    #[error("the AWS credentials cannot be loaded")]
    Credentials(#[from] CredentialsError),
    #[error("the HTTPS client cannot be created")]
    Client(#[source] reqwest::Error),
}

/// A region, credentials, and an HTTP client for signed requests.
#[derive(Debug, Clone)]
pub struct AwsAccount {
    region: String,
    credentials: Credentials,
    client: Client,
}

/// Resolves region and credentials as the AWS CLI does.
pub async fn sdk_config() -> SdkConfig {
    let https = https_client(TrustedRoots::System);
    aws_config::defaults(BehaviorVersion::latest()).http_client(https).load().await
}

impl AwsAccount {
    /// Resolves the account as the AWS CLI does.
    pub async fn from_env() -> Result<Self, AccountError> {
        let config = sdk_config().await;
        let region = config.region().ok_or(AccountError::NoRegion)?.to_string();
        let provider = config.credentials_provider().ok_or(AccountError::NoCredentials)?;
        let credentials = provider.provide_credentials().await?;
        let client = client_builder().build().map_err(AccountError::Client)?;
        Ok(Self { region, credentials, client })
    }

    pub fn region(&self) -> &str {
        &self.region
    }

    /// Calls an operation and returns its response. `path` starts with a slash, must be encoded, and may have a query.
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

    /// Signs a request, including `headers`, and returns the headers to add.
    pub fn signed_headers(
        &self,
        service: Service,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<HeaderMap, CallError> {
        let sign_request = || -> Result<HeaderMap, Box<dyn Error + Send + Sync>> {
            let identity = self.credentials.clone().into();
            let parameters = v4::SigningParams::builder()
                .identity(&identity)
                .region(self.region())
                .name(service.signing_name())
                .time(SystemTime::now())
                .settings(signing_settings(service))
                .build()?;
            let headers = headers.iter().copied();
            let unsigned =
                SignableRequest::new(method, address, headers, SignableBody::Bytes(body))?;
            let (instructions, _) = sign(unsigned, &parameters.into())?.into_parts();
            let mut signature = HeaderMap::new();
            for (name, value) in instructions.headers() {
                signature.insert(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
            }
            Ok(signature)
        };
        sign_request().map_err(CallError::Signing)
    }
}

/// S3 requires a path that is encoded once and not normalized, and a header with the body's hash. Other services
/// require a path that is encoded twice.
fn signing_settings(service: Service) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if service == Service::S3 {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
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
