//! The health of a running server, for health checks of containers, which have no other program.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use reqwest::{StatusCode, redirect::Policy};
use signed_requests::{client_builder, first_bytes};

use crate::{
    CliError,
    args::{ApiAddress, HealthArgs},
};

/// Health checks usually give up after a few seconds.
const MAX_WAIT: Duration = Duration::from_secs(3);
/// More bytes than the health of this service has.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Asks for the health of the API on this machine, or the address that was given, and prints the
/// answer.
pub async fn check(args: HealthArgs) -> Result<(), CliError> {
    let url = url(args);
    let failed = |source| CliError::NoAnswer { url: url.clone(), source };
    let client = client_builder().timeout(MAX_WAIT).redirect(Policy::none()).no_proxy();
    let response = client.build().map_err(failed)?.get(&url).send().await.map_err(failed)?;
    let status = response.status();
    let body = first_bytes(response, MAX_ANSWER_BYTES).await.map_err(failed)?;
    // Whatever answers at the address must not control the terminal.
    println!("{}", String::from_utf8_lossy(&body).trim().replace(char::is_control, " "));
    if status == StatusCode::OK { Ok(()) } else { Err(CliError::Unhealthy { url, status }) }
}

fn url(HealthArgs { url, address }: HealthArgs) -> String {
    let ApiAddress { host, port, base_path } = address;
    let address = SocketAddr::new(reachable(host), port);
    url.unwrap_or_else(|| format!("http://{address}{}/health", base_path.unwrap_or_default()))
}

/// The address that reaches a server on `host`, which may stand for every address of the machine.
pub fn reachable(host: IpAddr) -> IpAddr {
    match host {
        IpAddr::V4(host) if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_address_is_asked_at_that_of_the_machine_itself() {
        for (host, expected) in [
            ("0.0.0.0", "http://127.0.0.1:3000/numbers/health"),
            ("::", "http://[::1]:3000/numbers/health"),
            ("10.0.0.5", "http://10.0.0.5:3000/numbers/health"),
        ] {
            let base_path = Some("/numbers".to_owned());
            let host = host.parse().unwrap();
            let address = ApiAddress { host, port: 3000, base_path };
            assert_eq!(url(HealthArgs { url: None, address }), expected);
        }
    }
}
