//! Downloads reports over HTTPS with limits on time and size, and retries transient failures.

use std::{error::Error, time::Duration};

use backon::{ExponentialBuilder, Retryable};
use logging::with_causes;
use reqwest::{ClientBuilder, RequestBuilder, StatusCode, redirect::Policy};
use signed_requests::{client_builder, first_bytes};

use super::{MAX_FETCHED_BYTES, without_secrets};

/// Between two parts of a response.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// For one complete attempt.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum bytes read from an error response, which may never end. S3's has a few hundred.
const MAX_FAILURE_BYTES: usize = 16 << 10;

/// Four attempts, with waits of about 1, 2 and 4 seconds.
pub(super) const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_times(3)
    .with_jitter();

/// The reason a report could not be fetched, without the secrets in any URL.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct DownloadError {
    message: String,
    /// `true` if another attempt may succeed.
    is_transient: bool,
}

impl DownloadError {
    /// The error for a server that answers `status`, with S3's code if any.
    fn from_status(status: StatusCode, code: Option<String>) -> Self {
        let code = code.map(|code| format!(" ({code})"));
        let transient = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT];
        Self {
            message: format!("the server answers {status}{}", code.unwrap_or_default()),
            is_transient: status.is_server_error() || transient.contains(&status),
        }
    }
}

impl From<reqwest::Error> for DownloadError {
    /// Includes all causes. Any of them may name a redirect's URL, which may contain a signature.
    fn from(error: reqwest::Error) -> Self {
        let is_transient = !error.is_builder() && !error.is_redirect();
        // The message about the source names the requested URL.
        let error = error.without_url();
        let mut message = "the download failed".to_owned();
        let mut cause: Option<&dyn Error> = Some(&error);
        while let Some(error) = cause {
            let mut text = error.to_string();
            let of_request = error.downcast_ref::<reqwest::Error>();
            if let Some(address) = of_request.and_then(reqwest::Error::url) {
                text = text.replace(address.as_str(), &without_secrets(address.as_str()));
            }
            message += &format!(": {text}");
            cause = error.source();
        }
        Self { message, is_transient }
    }
}

/// Downloads a URL: over HTTPS only, or from this machine without proxies or redirects.
pub(super) async fn download(
    address: &str,
    received: impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, DownloadError> {
    let client = with_limits(client_builder());
    let client = if address.starts_with("https://") {
        client.https_only(true)
    } else {
        client.no_proxy().redirect(Policy::none())
    };
    let client = client.build()?;
    fetch(|| client.get(address), WAITS, received).await
}

/// Adds timeouts to a client.
pub(super) fn with_limits(client: ClientBuilder) -> ClientBuilder {
    client.read_timeout(READ_TIMEOUT).timeout(TOTAL_TIMEOUT)
}

/// Fetches the response body. After a transient failure, retries once after each of `waits`.
pub(super) async fn fetch(
    request: impl Fn() -> RequestBuilder,
    waits: ExponentialBuilder,
    received: impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, DownloadError> {
    let log = |error: &DownloadError, wait: Duration| {
        tracing::warn!(error = with_causes(error), ?wait, "retrying a failed download");
    };
    (|| fetch_once(request(), &received))
        .retry(waits)
        .when(|error| error.is_transient)
        .notify(log)
        .await
}

async fn fetch_once(
    request: RequestBuilder,
    received: &impl Fn(u64, Option<u64>),
) -> Result<Vec<u8>, DownloadError> {
    received(0, None);
    let mut response = request.send().await?;
    let status = response.status();
    if !status.is_success() {
        // The body only adds a code to the status, so failing to read it is not an error.
        let body = first_bytes(response, MAX_FAILURE_BYTES).await.unwrap_or_default();
        let code = s3_error_code(&String::from_utf8_lossy(&body));
        return Err(DownloadError::from_status(status, code));
    }
    let (mut bytes, total) = (Vec::new(), response.content_length());
    while let Some(part) = response.chunk().await? {
        bytes.extend_from_slice(&part);
        received(bytes.len() as u64, total);
        if bytes.len() > MAX_FETCHED_BYTES {
            let message = format!("it has more than {MAX_FETCHED_BYTES} bytes");
            return Err(DownloadError { message, is_transient: false });
        }
    }
    Ok(bytes)
}

/// The code, such as `NoSuchKey`, in S3's XML error response.
fn s3_error_code(body: &str) -> Option<String> {
    let (_, from_code) = body.split_once("<Code>")?;
    let (code, _) = from_code.split_once("</Code>")?;
    let is_code = code.chars().all(|c| c.is_ascii_alphanumeric());
    if is_code { Some(code.to_owned()) } else { None }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        net::Ipv4Addr,
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
    use tokio::{io::AsyncWriteExt, net::TcpListener};

    use super::*;

    const NO_WAITS: ExponentialBuilder =
        ExponentialBuilder::new().with_min_delay(Duration::ZERO).with_max_times(3);

    async fn local_listener() -> (TcpListener, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        (listener, address)
    }

    /// The address of a server that answers every request the same way.
    async fn server<T: 'static>(answer: impl Handler<T, ()>) -> String {
        let (listener, address) = local_listener().await;
        let router = Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }

    async fn fetch_from(address: &str) -> Result<Vec<u8>, DownloadError> {
        let client = with_limits(client_builder()).build().unwrap();
        fetch(|| client.get(address), NO_WAITS, |_, _| ()).await
    }

    #[tokio::test]
    async fn busy_server_is_retried_up_to_three_times_and_missing_report_is_not() {
        let busy = "the server answers 429 Too Many Requests";
        for (failures, status, expected, attempts) in [
            (2, StatusCode::SERVICE_UNAVAILABLE, Ok(b"report".to_vec()), 3),
            (usize::MAX, StatusCode::TOO_MANY_REQUESTS, Err(busy), 4),
            (usize::MAX, StatusCode::NOT_FOUND, Err("the server answers 404 Not Found"), 1),
        ] {
            let calls = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&calls);
            let address = server(async move || match counted.fetch_add(1, Ordering::SeqCst) {
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
    async fn truncated_response_is_an_error() {
        let (listener, address) = local_listener().await;
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf").await;
            }
        });
        let error = fetch_from(&address).await.unwrap_err().to_string();
        assert!(error.starts_with("the download failed: "), "{error}");
    }

    #[tokio::test]
    async fn a_refused_redirect_does_not_show_the_signature_of_its_address() {
        const SIGNED: &str = "http://files.example/a.zip?X-Amz-Signature=secret#secret";
        let redirect = (StatusCode::FOUND, [("location", "/b?X-Amz-Signature=secret")]);
        let address = server(async move || redirect).await;
        // An HTTPS-only client refuses plain HTTP the same way: as the cause of its own error.
        let for_https = client_builder().https_only(true).build().unwrap();
        let refused = Mutex::new(Some(for_https.get(SIGNED).send().await.unwrap_err()));
        let refusing = Policy::custom(move |attempt| {
            attempt.error(refused.lock().unwrap().take().expect("it is not asked again"))
        });
        let client = client_builder().redirect(refusing).build().unwrap();
        let error = fetch(|| client.get(&address), NO_WAITS, |_, _| ()).await.unwrap_err();
        let (shown, logged) = (with_causes(&error), format!("{error:?}"));
        assert!(shown.contains("(http://files.example/a.zip)"), "{shown}");
        assert!(!shown.contains("secret") && !logged.contains("secret"), "{shown} {logged}");

        let looping = with_causes(&fetch_from(&address).await.unwrap_err());
        assert!(looping.contains("too many redirects"), "{looping}");
        assert!(!looping.contains("secret"), "{looping}");
    }

    #[tokio::test]
    async fn an_endless_answer_to_a_failure_is_not_read_to_its_end() {
        let address = server(async || {
            let beginning = stream::once(async { Ok(Bytes::from("<Code>NoSuchKey</Code>")) });
            let rest =
                stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from(vec![b' '; 1 << 16])));
            (StatusCode::NOT_FOUND, Body::from_stream(beginning.chain(rest)))
        })
        .await;
        let fetched = tokio::time::timeout(Duration::from_secs(5), fetch_from(&address)).await;
        let error = with_causes(&fetched.expect("it is read without an end").unwrap_err());
        assert_eq!(error, "the server answers 404 Not Found (NoSuchKey)");
    }

    #[test]
    fn failure_includes_only_the_s3_error_code() {
        let missing = "<Error><Code>NoSuchKey</Code><Key>a</Key></Error>";
        assert_eq!(s3_error_code(missing).as_deref(), Some("NoSuchKey"));
        assert_eq!(s3_error_code("<Code>any other text</Code>"), None);
        assert_eq!(s3_error_code("<html>"), None);
    }
}
