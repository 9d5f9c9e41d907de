//! The AWS account that an operator works with.

use aws_config::BehaviorVersion;
use aws_sdk_dynamodb::config::Builder;
use store::{TrustedRoots, https_client};

/// The configuration of a client with the region and credentials that the AWS CLI would use.
pub async fn config() -> Builder {
    let client = https_client(TrustedRoots::System);
    let loader = aws_config::defaults(BehaviorVersion::latest()).http_client(client);
    Builder::from(&loader.load().await)
}
