//! AWS region and credentials from the environment.

use aws_config::{BehaviorVersion, SdkConfig};
use aws_credential_types::{
    Credentials,
    provider::{ProvideCredentials, error::CredentialsError},
};
use reqwest::Client;
use store::{TrustedRoots, https_client};

use crate::call::client_builder;

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
    pub(crate) credentials: Credentials,
    pub(crate) client: Client,
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
}
