//! Reads reports from S3 with one signed GET request, without the S3 SDK.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use signed_requests::{AwsAccount, Service, client_builder, domain};

use super::download;
use crate::error::Cause;

/// The characters to percent-encode in a key, as the signature requires.
const ENCODED_IN_KEY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Downloads an object. Region and credentials come from the environment.
pub(super) async fn read_object(
    bucket: &str,
    key: &str,
    on_received: impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, Cause> {
    let account = AwsAccount::from_env().await?;
    let address = address(bucket, key, account.region(), Service::S3.custom_endpoint().as_deref());
    let client = download::with_timeouts(client_builder()).build()?;
    let headers = account.signed_headers(Service::S3, "GET", &address, &[], &[])?;
    let request = || client.get(&address).headers(headers.clone());
    Ok(download::fetch(request, download::BACKOFF, on_received).await?)
}

/// Returns an object's URL. The bucket is in the path if its name has a dot, which S3's certificate does not cover, or
/// with a custom endpoint, which may not support buckets as host names.
fn address(bucket: &str, key: &str, region: &str, endpoint: Option<&str>) -> String {
    let key = utf8_percent_encode(key, ENCODED_IN_KEY);
    let domain = domain(region);
    match endpoint {
        Some(endpoint) => format!("{endpoint}/{bucket}/{key}"),
        None if bucket.contains('.') => format!("https://s3.{region}.{domain}/{bucket}/{key}"),
        None => format!("https://{bucket}.s3.{region}.{domain}/{key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_url_depends_on_bucket_region_and_endpoint() {
        let irish_url = |bucket, endpoint| address(bucket, "a b/c+d.csv", "eu-west-1", endpoint);
        assert_eq!(
            irish_url("data", None),
            "https://data.s3.eu-west-1.amazonaws.com/a%20b/c%2Bd.csv"
        );
        assert_eq!(
            irish_url("my.data", None),
            "https://s3.eu-west-1.amazonaws.com/my.data/a%20b/c%2Bd.csv"
        );
        let local = irish_url("data", Some("http://localhost:8001"));
        assert_eq!(local, "http://localhost:8001/data/a%20b/c%2Bd.csv");
        let china = address("data", "a", "cn-north-1", None);
        assert_eq!(china, "https://data.s3.cn-north-1.amazonaws.com.cn/a");
    }
}
