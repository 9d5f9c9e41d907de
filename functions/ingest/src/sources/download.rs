//! Reports over HTTPS: bounded in time and size, and tried again where that may help.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use logging::with_causes;
use reqwest::{Client, ClientBuilder, RequestBuilder, StatusCode};

use super::MOST_FETCHED;

const TO_CONNECT: Duration = Duration::from_secs(10);
/// Between two parts of an answer.
const TO_GO_ON: Duration = Duration::from_secs(30);
const ALTOGETHER: Duration = Duration::from_secs(300);

/// Four tries, with waits of about 1, 2 and 4 seconds.
pub(super) const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_times(3)
    .with_jitter();

#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error("the server answers {status}{}", code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default())]
    Status { status: StatusCode, code: Option<String> },
    #[error("it has more than {MOST_FETCHED} bytes")]
    TooLarge,
    #[error("the download failed")]
    Transport(#[source] reqwest::Error),
}

impl From<reqwest::Error> for DownloadError {
    /// Without the address, which may hold a secret.
    fn from(error: reqwest::Error) -> Self {
        Self::Transport(error.without_url())
    }
}

impl DownloadError {
    fn may_pass(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                status.is_server_error()
                    || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(status)
            }
            Self::Transport(error) => !error.is_builder(),
            Self::TooLarge => false,
        }
    }
}

/// The whole body at an `https://` address.
///
/// # Errors
/// Returns an error if it cannot be fetched in four tries.
pub async fn download(address: &str) -> Result<Vec<u8>, DownloadError> {
    let client = limited(Client::builder()).https_only(true).build()?;
    with_retries(|| client.get(address), WAITS).await
}

/// A client of bounded patience, with ring as its TLS.
pub(super) fn limited(client: ClientBuilder) -> ClientBuilder {
    // It fails only if a provider is installed already, which then is this one.
    _ = rustls::crypto::ring::default_provider().install_default();
    let agent = concat!("telephone-number-reference/", env!("CARGO_PKG_VERSION"));
    client.user_agent(agent).connect_timeout(TO_CONNECT).read_timeout(TO_GO_ON).timeout(ALTOGETHER)
}

/// The body of the answer to `request`, which is sent again after `waits` where that may help.
pub(super) async fn with_retries(
    request: impl Fn() -> RequestBuilder,
    waits: ExponentialBuilder,
) -> Result<Vec<u8>, DownloadError> {
    let report = |error: &DownloadError, wait: Duration| {
        tracing::warn!(error = with_causes(error), ?wait, "a download failed and is tried again");
    };
    (|| body(request())).retry(waits).when(DownloadError::may_pass).notify(report).await
}

async fn body(request: RequestBuilder) -> Result<Vec<u8>, DownloadError> {
    let mut answer = request.send().await?;
    let status = answer.status();
    if !status.is_success() {
        let code = answer.text().await.ok().and_then(|text| s3_error_code(&text));
        return Err(DownloadError::Status { status, code });
    }
    let mut bytes = Vec::new();
    while let Some(part) = answer.chunk().await? {
        bytes.extend_from_slice(&part);
        if bytes.len() > MOST_FETCHED {
            return Err(DownloadError::TooLarge);
        }
    }
    Ok(bytes)
}

/// The code in the XML that S3 answers with a failure, such as `NoSuchKey`.
fn s3_error_code(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    code.chars().all(|c| c.is_ascii_alphanumeric()).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use std::{
        net::Ipv4Addr,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use axum::{Router, routing::get};
    use tokio::{io::AsyncWriteExt, net::TcpListener};

    use super::*;

    const AT_ONCE: ExponentialBuilder =
        ExponentialBuilder::new().with_min_delay(Duration::ZERO).with_max_times(3);

    async fn listening() -> (TcpListener, String) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        (listener, address)
    }

    /// A server that answers `status` so many times before it answers well, and counts its calls.
    async fn server(failures: usize, status: StatusCode) -> (String, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let answer = move || async move {
            match counted.fetch_add(1, Ordering::SeqCst) {
                call if call < failures => Err(status),
                _ => Ok("report"),
            }
        };
        let (listener, address) = listening().await;
        let router = Router::new().route("/", get(answer));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (address, calls)
    }

    async fn fetched(address: &str) -> Result<Vec<u8>, DownloadError> {
        let client = limited(Client::builder()).build().unwrap();
        with_retries(|| client.get(address), AT_ONCE).await
    }

    #[tokio::test]
    async fn a_busy_server_is_asked_again() {
        let (address, calls) = server(2, StatusCode::SERVICE_UNAVAILABLE).await;
        assert_eq!(fetched(&address).await.unwrap(), b"report");
        assert_eq!(calls.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn a_server_that_stays_busy_is_given_up_after_four_tries() {
        let (address, calls) = server(usize::MAX, StatusCode::TOO_MANY_REQUESTS).await;
        let error = fetched(&address).await.unwrap_err();
        assert_eq!(error.to_string(), "the server answers 429 Too Many Requests");
        assert_eq!(calls.load(Ordering::SeqCst), 4);
    }

    #[tokio::test]
    async fn what_is_not_there_is_asked_for_once() {
        let (address, calls) = server(usize::MAX, StatusCode::NOT_FOUND).await;
        assert!(matches!(fetched(&address).await, Err(DownloadError::Status { code: None, .. })));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_is_no_report() {
        let (listener, address) = listening().await;
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf").await;
            }
        });
        assert!(matches!(fetched(&address).await, Err(DownloadError::Transport(_))));
    }

    #[tokio::test]
    async fn a_plain_http_address_is_refused() {
        let (address, calls) = server(0, StatusCode::OK).await;
        assert!(download(&address).await.is_err());
        assert_eq!(calls.load(Ordering::SeqCst), 0);
    }
}
