//! AWS services and their endpoints.

use std::env;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    CloudFormation,
    CloudWatch,
    CodeDeploy,
    Lambda,
    S3,
}

impl Service {
    /// The service's name in signatures and endpoints.
    pub(crate) fn signing_name(self) -> &'static str {
        match self {
            Self::CloudFormation => "cloudformation",
            Self::CloudWatch => "monitoring",
            Self::CodeDeploy => "codedeploy",
            Self::Lambda => "lambda",
            Self::S3 => "s3",
        }
    }

    /// The endpoint override, from the same environment variables as the SDKs use.
    pub fn custom_endpoint(self) -> Option<String> {
        let variable = format!("AWS_ENDPOINT_URL_{self:?}").to_uppercase();
        let endpoint = env::var(variable).or_else(|_| env::var("AWS_ENDPOINT_URL")).ok()?;
        Some(endpoint.trim_end_matches('/').to_owned())
    }

    /// The service's endpoint in `region`, without a trailing slash.
    pub fn endpoint(self, region: &str) -> String {
        self.custom_endpoint().unwrap_or_else(|| {
            format!("https://{}.{region}.{}", self.signing_name(), domain(region))
        })
    }
}

/// The domain for AWS endpoints in a region.
pub fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_depend_on_region_and_partition() {
        assert_eq!(
            Service::CloudWatch.endpoint("eu-west-1"),
            "https://monitoring.eu-west-1.amazonaws.com"
        );
        assert_eq!(
            Service::Lambda.endpoint("cn-north-1"),
            "https://lambda.cn-north-1.amazonaws.com.cn"
        );
    }
}
