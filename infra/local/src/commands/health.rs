//! Asks a running server how it is, for health checks of containers, which have no other program.

use std::time::Duration;

use reqwest::{Client, StatusCode};

use crate::{LocalError, args::HealthArgs};

/// Health checks usually give up after a few seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Asks for the health of the API on this machine, or the address that was given, and prints the
/// answer.
///
/// # Errors
/// Returns an error if the server does not answer, or its answer is no success.
pub async fn check(args: HealthArgs) -> Result<(), LocalError> {
    let url = url(args);
    let failed = || LocalError::io(format!("{url} does not answer"));
    // Only plain HTTP is spoken, but the client is not made without a choice for TLS. This fails if
    // that has been chosen already.
    _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(LONGEST_WAIT).no_proxy().build().map_err(failed())?;
    let response = client.get(&url).send().await.map_err(failed())?;
    let status = response.status();
    let text = response.text().await.map_err(failed())?;
    println!("{}", text.trim());
    if status == StatusCode::OK { Ok(()) } else { Err(LocalError::Unhealthy { url, status }) }
}

fn url(HealthArgs { url, port, base_path }: HealthArgs) -> String {
    let base_path = base_path.unwrap_or_default();
    url.unwrap_or_else(|| format!("http://127.0.0.1:{port}{base_path}/health"))
}
