//! Downloads reports over HTTPS and from S3, with time and size limits and retries. S3 downloads use one signed GET
//! request instead of the SDK.

use std::{error::Error, iter::successors, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use logging::with_causes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{ClientBuilder, RequestBuilder, StatusCode, redirect::Policy};
use signed_requests::{AwsAccount, Service, client_builder, domain, first_bytes};

use super::MAX_BYTES;
use crate::error::Cause;

/// The maximum time between two parts of a response.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(300);

/// The maximum number of bytes to read from an error response, which may be endless. S3 sends a few hundred.
const MAX_ERROR_BODY_BYTES: usize = 16 << 10;

/// Four attempts, with waits of about 1, 2 and 4 seconds.
const BACKOFF: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_times(3)
    .with_jitter();

/// The characters to percent-encode in a key, as the signature requires.
const ENCODED_IN_KEY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// A failed download. Its message contains no secrets from URLs.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct DownloadError {
    message: String,
    is_transient: bool,
}

impl DownloadError {
    fn from_status(status: StatusCode, code: Option<&str>) -> Self {
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let transient = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT];
        Self {
            message: format!("the server returned {status}{code}"),
            is_transient: status.is_server_error() || transient.contains(&status),
        }
    }
}

impl From<reqwest::Error> for DownloadError {
    /// Reduces the error to its root cause, such as a host name that does not resolve.
    fn from(error: reqwest::Error) -> Self {
        let is_transient = !error.is_builder() && !error.is_redirect();
        let error = error.without_url();
        let causes = successors(error.source(), |&cause| cause.source());
        // The client's own errors may contain the signed URL of a redirect.
        let root = causes.filter(|cause| !cause.is::<reqwest::Error>()).last();
        let message = root.map_or_else(|| error.to_string(), ToString::to_string);
        Self { message, is_transient }
    }
}

/// Downloads a URL over HTTPS, or from this machine without proxies or redirects.
pub(super) async fn download(
    address: &str,
    on_received: impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, DownloadError> {
    let client = with_timeouts(client_builder());
    let client = if address.starts_with("https://") {
        client.https_only(true)
    } else {
        client.no_proxy().redirect(Policy::none())
    };
    let client = client.build()?;
    fetch(|| client.get(address), BACKOFF, on_received).await
}

/// Downloads an object. Region and credentials come from the environment.
pub(super) async fn download_object(
    bucket: &str,
    key: &str,
    on_received: impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, Cause> {
    let account = AwsAccount::from_env().await?;
    let address = address(bucket, key, account.region(), Service::S3.custom_endpoint().as_deref());
    let client = with_timeouts(client_builder()).build()?;
    let headers = account.signed_headers(Service::S3, "GET", &address, &[], &[])?;
    let request = || client.get(&address).headers(headers.clone());
    Ok(fetch(request, BACKOFF, on_received).await?)
}

/// Returns an object's URL. The bucket is in the path if its name has a dot, which S3's certificate does not cover, or
/// for a custom endpoint, which may not support buckets as host names.
fn address(bucket: &str, key: &str, region: &str, endpoint: Option<&str>) -> String {
    let key = utf8_percent_encode(key, ENCODED_IN_KEY);
    let domain = domain(region);
    match endpoint {
        Some(endpoint) => format!("{endpoint}/{bucket}/{key}"),
        None if bucket.contains('.') => format!("https://s3.{region}.{domain}/{bucket}/{key}"),
        None => format!("https://{bucket}.s3.{region}.{domain}/{key}"),
    }
}

fn with_timeouts(client: ClientBuilder) -> ClientBuilder {
    client.read_timeout(READ_TIMEOUT).timeout(TOTAL_TIMEOUT)
}

/// Fetches the response body. Stops after the part that exceeds [`MAX_BYTES`]. Retries transient failures as `backoff`
/// specifies.
async fn fetch(
    request: impl Fn() -> RequestBuilder,
    backoff: ExponentialBuilder,
    on_received: impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, DownloadError> {
    let log = |error: &DownloadError, wait: Duration| {
        tracing::warn!(error = with_causes(error), ?wait, "retrying a failed download");
    };
    (|| fetch_once(request(), &on_received))
        .retry(backoff)
        .when(|error| error.is_transient)
        .notify(log)
        .await
}

async fn fetch_once(
    request: RequestBuilder,
    on_received: &impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, DownloadError> {
    on_received(0, None);
    let mut response = request.send().await?;
    let status = response.status();
    if !status.is_success() {
        // The body only adds details, so an unreadable one is fine.
        let body = first_bytes(response, MAX_ERROR_BODY_BYTES).await.unwrap_or_default();
        let code = s3_error_code(&body);
        return Err(DownloadError::from_status(status, code));
    }
    let (mut bytes, total) = (Vec::new(), response.content_length());
    while bytes.len() <= MAX_BYTES
        && let Some(part) = response.chunk().await?
    {
        bytes.extend_from_slice(&part);
        on_received(bytes.len() as u64, total);
    }
    Ok(bytes)
}

/// Returns the code, such as `NoSuchKey`, from S3's XML error response.
fn s3_error_code(body: &[u8]) -> Option<&str> {
    let (_, from_code) = str::from_utf8(body).ok()?.split_once("<Code>")?;
    let (code, _) = from_code.split_once("</Code>")?;
    code.chars().all(|c| c.is_ascii_alphanumeric()).then_some(code)
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        env, fs,
        net::Ipv4Addr,
        process,
        sync::{
            Arc, Mutex,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use axum::{
        Router,
        body::{Body, Bytes},
        handler::Handler,
    };
    use futures_util::{StreamExt, stream};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::{super::Source, *};

    const NO_BACKOFF: ExponentialBuilder =
        ExponentialBuilder::new().with_min_delay(Duration::ZERO).with_max_times(3);

    async fn local_listener() -> (TcpListener, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        (listener, address)
    }

    /// Starts a server that sends the same response to every request, and returns its URL.
    async fn start_server<T: 'static>(handler: impl Handler<T, ()>) -> String {
        let (listener, address) = local_listener().await;
        let router = Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }

    async fn fetch_from(address: &str) -> Result<Vec<u8>, DownloadError> {
        let client = with_timeouts(client_builder()).build().unwrap();
        fetch(|| client.get(address), NO_BACKOFF, |_, _| ()).await
    }

    #[tokio::test]
    async fn busy_servers_are_retried_three_times_and_missing_reports_are_not() {
        let busy = "the server returned 429 Too Many Requests";
        for (failures, status, expected, attempts) in [
            (2, StatusCode::SERVICE_UNAVAILABLE, Ok(b"report".to_vec()), 3),
            (usize::MAX, StatusCode::TOO_MANY_REQUESTS, Err(busy), 4),
            (usize::MAX, StatusCode::NOT_FOUND, Err("the server returned 404 Not Found"), 1),
        ] {
            let calls = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&calls);
            let address =
                start_server(async move || match counted.fetch_add(1, Ordering::SeqCst) {
                    call if call < failures => Err(status),
                    _ => Ok("report"),
                })
                .await;
            let fetched = fetch_from(&address).await.map_err(|error| error.to_string());
            assert_eq!(fetched, expected.map_err(str::to_owned), "{status}");
            assert_eq!(calls.load(Ordering::SeqCst), attempts, "{status}");
        }
    }

    #[tokio::test]
    async fn truncated_responses_are_retried_and_then_an_error() {
        let (listener, address) = local_listener().await;
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&attempts);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                _ = stream.read(&mut [0; 4096]).await;
                _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf").await;
            }
        });
        let error = fetch_from(&address).await.unwrap_err().to_string();
        assert_eq!(error, "end of file before message length reached");
        assert_eq!(attempts.load(Ordering::SeqCst), 4);
    }

    #[tokio::test]
    async fn rejected_redirect_does_not_show_the_signature_in_its_url() {
        const SIGNED: &str = "http://files.example/a.zip?X-Amz-Signature=secret#secret";
        let redirect = (StatusCode::FOUND, [("location", "/b?X-Amz-Signature=secret")]);
        let address = start_server(async move || redirect).await;
        // An HTTPS-only client reports a rejected HTTP URL in the same way: as the cause of another error.
        let https_only = client_builder().https_only(true).build().unwrap();
        let rejection = Mutex::new(Some(https_only.get(SIGNED).send().await.unwrap_err()));
        let rejecting_policy = Policy::custom(move |attempt| {
            attempt.error(rejection.lock().unwrap().take().expect("the policy runs once"))
        });
        let client = client_builder().redirect(rejecting_policy).build().unwrap();
        let error = fetch(|| client.get(&address), NO_BACKOFF, |_, _| ()).await.unwrap_err();
        let (message, debug) = (with_causes(&error), format!("{error:?}"));
        assert_eq!(message, "URL scheme is not allowed");
        assert!(!message.contains("secret") && !debug.contains("secret"), "{message} {debug}");

        let redirect_loop = with_causes(&fetch_from(&address).await.unwrap_err());
        assert!(redirect_loop.contains("too many redirects"), "{redirect_loop}");
        assert!(!redirect_loop.contains("secret"), "{redirect_loop}");
    }

    #[tokio::test]
    async fn endless_bodies_are_not_read_to_the_end() {
        for status in [StatusCode::OK, StatusCode::NOT_FOUND] {
            let address = start_server(async move || {
                let part = Bytes::from(vec![0; 1 << 20]);
                let rest = stream::repeat_with(move || Ok::<_, Infallible>(part.clone()));
                let start = stream::once(async { Ok(Bytes::from("<Code>NoSuchKey</Code>")) });
                (status, Body::from_stream(start.chain(rest)))
            })
            .await;
            let source = Source::Url(address);
            let opened = source.open("a report", None, |_, _| ());
            let opened = tokio::time::timeout(Duration::from_secs(60), opened).await;
            let error = with_causes(&opened.expect("the download ends").err().unwrap());
            let expected = match status {
                StatusCode::OK => format!("it is larger than {MAX_BYTES} bytes"),
                _ => "the server returned 404 Not Found (NoSuchKey)".to_owned(),
            };
            assert!(error.ends_with(&expected), "{error}");
        }
    }

    #[tokio::test]
    async fn oversized_files_are_rejected_not_truncated() {
        let path = env::temp_dir().join(format!("large-report-{}", process::id()));
        fs::File::create(&path).unwrap().set_len(MAX_BYTES as u64 + 1).unwrap();
        let source = Source::File(path.clone());
        let error = source.open("a report", None, |_, _| ()).await.err().unwrap();
        fs::remove_file(path).unwrap();
        let error = with_causes(&error);
        assert!(error.ends_with(&format!("it is larger than {MAX_BYTES} bytes")), "{error}");
    }

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
