//! Reports in S3: one signed GET, so that the SDK of S3 need not be built and loaded for it.

use std::{env, error::Error, time::SystemTime};

use aws_config::BehaviorVersion;
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
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{
    Client,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use store::{TrustedRoots, https_client};

use super::download::{self, DownloadError};

/// The characters of a key that are percent-encoded, as the signature requires: all but these.
const ENCODED_IN_KEY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Why an object could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BucketError {
    #[error("no region is set; set AWS_REGION to the region of the bucket")]
    NoRegion,
    #[error("no AWS credentials were found; set them as for the AWS CLI")]
    NoCredentials,
    #[error("the AWS credentials cannot be used")]
    Credentials(#[from] CredentialsError),
    #[error("the request cannot be signed")]
    Signing(#[source] Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Download(#[from] DownloadError),
}

/// Reads a whole object. Region and credentials come from the environment.
///
/// # Errors
/// Returns an error if the environment has no region or credentials, the object cannot be read in
/// four attempts, or it is too large.
pub(super) async fn read_object(bucket: &str, key: &str) -> Result<Vec<u8>, BucketError> {
    let https = https_client(TrustedRoots::System);
    let loader = aws_config::defaults(BehaviorVersion::latest()).http_client(https);
    let config = loader.load().await;
    let region = config.region().ok_or(BucketError::NoRegion)?.to_string();
    let provider = config.credentials_provider().ok_or(BucketError::NoCredentials)?;
    let credentials = provider.provide_credentials().await?;
    let address = address(bucket, key, &region, endpoint().as_deref());
    let client = download::with_limits(Client::builder()).build().map_err(DownloadError::from)?;
    let headers = signed_headers(&address, &region, credentials).map_err(BucketError::Signing)?;
    let request = || client.get(&address).headers(headers.clone());
    Ok(download::fetch(request, download::WAITS).await?)
}

/// The endpoint that replaces the one of AWS, if the environment sets one by the names of the SDKs.
fn endpoint() -> Option<String> {
    env::var("AWS_ENDPOINT_URL_S3").or_else(|_| env::var("AWS_ENDPOINT_URL")).ok()
}

/// The address of an object. A bucket with a dot in its name stands in the path, since the
/// certificate of S3 does not cover such a host name; so does one behind another endpoint, which may
/// have no host names for buckets.
fn address(bucket: &str, key: &str, region: &str, endpoint: Option<&str>) -> String {
    let key = utf8_percent_encode(key, ENCODED_IN_KEY);
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    match endpoint {
        Some(endpoint) => format!("{}/{bucket}/{key}", endpoint.trim_end_matches('/')),
        None if bucket.contains('.') => format!("https://s3.{region}.{domain}/{bucket}/{key}"),
        None => format!("https://{bucket}.s3.{region}.{domain}/{key}"),
    }
}

/// The headers of Signature Version 4 for a GET, as S3 requires them: the path is encoded once and not
/// normalized, and the hash of the body is a header.
fn signed_headers(
    address: &str,
    region: &str,
    credentials: Credentials,
) -> Result<HeaderMap, Box<dyn Error + Send + Sync>> {
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    let identity = credentials.into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("s3")
        .time(SystemTime::now())
        .settings(settings)
        .build()?;
    let unsigned = SignableRequest::new("GET", address, [].into_iter(), SignableBody::empty())?;
    let (instructions, _) = sign(unsigned, &parameters.into())?.into_parts();
    let mut headers = HeaderMap::new();
    for (name, value) in instructions.headers() {
        headers.insert(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_addressed_by_its_bucket_region_and_endpoint() {
        let in_ireland = |bucket, endpoint| address(bucket, "a b/c+d.csv", "eu-west-1", endpoint);
        assert_eq!(
            in_ireland("data", None),
            "https://data.s3.eu-west-1.amazonaws.com/a%20b/c%2Bd.csv"
        );
        assert_eq!(
            in_ireland("my.data", None),
            "https://s3.eu-west-1.amazonaws.com/my.data/a%20b/c%2Bd.csv"
        );
        let local = in_ireland("data", Some("http://localhost:8001/"));
        assert_eq!(local, "http://localhost:8001/data/a%20b/c%2Bd.csv");
        let china = address("data", "a", "cn-north-1", None);
        assert_eq!(china, "https://data.s3.cn-north-1.amazonaws.com.cn/a");
    }
}
