//! The `health` command, for container health checks without `curl`.

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use reqwest::{StatusCode, redirect::Policy};
use signed_requests::{client_builder, first_bytes};

use crate::{
    CliError,
    serve::args::{ApiAddress, reachable_host},
    terminal::show_message,
};

const TIMEOUT: Duration = Duration::from_secs(3);
/// Larger than any health response from this service.
const MAX_BODY_BYTES: usize = 64 * 1024;

#[derive(Debug, Args)]
pub struct HealthArgs {
    /// URL to check [default: the API on this machine]
    #[arg(value_name = "URL", value_parser = http_url)]
    pub url: Option<String>,
    #[command(flatten)]
    pub address: ApiAddress,
}

/// Checks the API's health on this machine or at the given URL, and prints the response.
pub async fn check(args: HealthArgs) -> Result<(), CliError> {
    let HealthArgs { url, address: ApiAddress { host, port, base_path } } = args;
    let address = SocketAddr::new(reachable_host(host), port);
    let base_path = base_path.unwrap_or_default();
    let url = url.unwrap_or_else(|| format!("http://{address}{base_path}/health"));
    let failed = |source| CliError::NoResponse { url: url.clone(), source };
    let client = client_builder().timeout(TIMEOUT).redirect(Policy::none()).no_proxy();
    let response = client.build().map_err(failed)?.get(&url).send().await.map_err(failed)?;
    let status = response.status();
    let body = first_bytes(response, MAX_BODY_BYTES).await.map_err(failed)?;
    // An unknown server must not be able to control the terminal.
    show_message(String::from_utf8_lossy(&body).trim());
    if status == StatusCode::OK { Ok(()) } else { Err(CliError::Unhealthy { url, status }) }
}

fn http_url(text: &str) -> Result<String, String> {
    if text.starts_with("http://") {
        Ok(text.to_owned())
    } else {
        Err("must start with http://".to_owned())
    }
}
