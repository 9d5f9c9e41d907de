//! The AWS account that the environment leads to.

use aws_config::{BehaviorVersion, SdkConfig};
use aws_credential_types::{
    Credentials,
    provider::{ProvideCredentials, error::CredentialsError},
};
use reqwest::Client;
use store::{TrustedRoots, https_client};

use crate::call::client_builder;

/// The reason why the environment leads to no account.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    #[error("no region is set; set AWS_REGION")]
    NoRegion,
    #[error("no AWS credentials were found; set them as for the AWS CLI")]
    NoCredentials,
    #[error("the AWS credentials cannot be used")]
    Credentials(#[from] CredentialsError),
    #[error("no HTTPS client can be made")]
    Client(#[source] reqwest::Error),
}

/// Region and credentials, and the client that sends requests with them.
#[derive(Debug, Clone)]
pub struct AwsAccount {
    region: String,
    pub(crate) credentials: Credentials,
    pub(crate) client: Client,
}

/// The region and credentials that the AWS CLI would use.
pub async fn sdk_config() -> SdkConfig {
    let https = https_client(TrustedRoots::System);
    aws_config::defaults(BehaviorVersion::latest()).http_client(https).load().await
}

impl AwsAccount {
    /// The account whose region and credentials the AWS CLI would use.
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
