//! Rejects requests from web pages. A page in a browser on this machine can reach a loopback address, and can
//! read the responses if its own domain resolves to that address. The host header then contains its domain.

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{StatusCode, header::ORIGIN, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use shared::http::request_host;

const WEB_PAGE_REJECTION: &str = "this port rejects requests from web pages\n";
const UNEXPECTED_HOST: &str =
    "at a loopback address, this port accepts only localhost or an IP address as Host\n";

/// Rejects requests that a web page may have sent to a port at this address.
pub async fn reject_web_pages(
    State(address): State<IpAddr>,
    request: Request,
    next: Next,
) -> Response {
    if request.headers().contains_key(ORIGIN) {
        return (StatusCode::FORBIDDEN, WEB_PAGE_REJECTION).into_response();
    }
    match request_host(request.uri(), request.headers(), request.version()) {
        Err(error) => error.into_response(),
        Ok(Some(host)) if address.to_canonical().is_loopback() && !is_local(host) => {
            (StatusCode::FORBIDDEN, UNEXPECTED_HOST).into_response()
        }
        Ok(_) => next.run(request).await,
    }
}

/// Returns `true` for `localhost` or an IP address, with or without a port.
fn is_local(host: &str) -> bool {
    let authority = host.parse::<Authority>();
    authority.is_ok_and(|authority| {
        let name = authority.host();
        name.eq_ignore_ascii_case("localhost")
            || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, middleware::from_fn_with_state};
    use lambda_http::tower::ServiceExt as _;

    use super::*;

    async fn status(address: &str, headers: &[(&str, &str)]) -> StatusCode {
        let address: IpAddr = address.parse().unwrap();
        let router = Router::new().fallback(async || "ok");
        let router = router.layer(from_fn_with_state(address, reject_web_pages));
        let request = Request::builder().uri("/metrics");
        let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value));
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn loopback_addresses_accept_only_localhost_and_ip_addresses_as_host() {
        for address in ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"] {
            for host in ["localhost", "LOCALHOST:9464", "127.0.0.1:9464", "10.0.0.5", "[::1]:9464"]
            {
                assert_eq!(status(address, &[("host", host)]).await, StatusCode::OK, "{host}");
            }
            for host in
                ["example.com:9464", "localhost.example.com", "localhost.", "127.0.0.1.nip.io"]
            {
                let status = status(address, &[("host", host)]).await;
                assert_eq!(status, StatusCode::FORBIDDEN, "{host}");
            }
        }
    }
}
