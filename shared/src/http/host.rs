//! Finds a request's host, in `Host` or in the target's authority, as in HTTP/2.

use std::net::Ipv6Addr;

use axum::http::{HeaderMap, Uri, Version, header::HOST, uri::Authority};

use crate::errors::ApiError;

const MAX_HOST_LENGTH: usize = 260;

const RULE: &str =
    "Host must be sent exactly once, as a name or an IP address with an optional port";

/// A request's host, with its port, if any. An HTTP/1.1 request must have `Host`, but an authority in the
/// target takes precedence (RFC 9112, section 3.2).
pub fn request_host<'a>(
    uri: &'a Uri,
    headers: &'a HeaderMap,
    version: Version,
) -> Result<Option<&'a str>, ApiError> {
    let mut lines = headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let (host, repeated) = (lines.next(), lines.next());
    let authority = uri.authority().map(Authority::as_str);
    let is_missing = host.is_none() && version == Version::HTTP_11;
    if is_missing || repeated.is_some() || ![host, authority].into_iter().flatten().all(is_host) {
        return Err(ApiError::invalid(RULE));
    }
    Ok(authority.or(host))
}

/// Returns `true` if the text is a name or an IP address with an optional port.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    text.len() <= MAX_HOST_LENGTH && (is_name(host) || is_ipv6(host)) && port.is_none_or(is_port)
}

/// Returns `true` if the text is a name or an IPv4 address.
fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain)
}

fn is_ipv6(text: &str) -> bool {
    let address = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::case_table::rows;

    #[test]
    fn exactly_one_valid_host_is_required_and_the_authority_takes_precedence() {
        for [uri, hosts, version, expected] in rows(include_str!("hosts.txt")) {
            let lines = hosts.split(", ").filter(|host| *host != "none");
            let lines = lines.map(|host| (HOST, HeaderValue::from_str(host).unwrap()));
            let (target, headers) = (uri.parse().unwrap(), lines.collect());
            let versions = [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2];
            let is_named = |it: &Version| format!("{it:?}") == version;
            let version = versions.into_iter().find(is_named).unwrap();
            let found = request_host(&target, &headers, version);
            let found = found.map_or("rejected", |host| host.unwrap_or("unknown"));
            assert_eq!(found, expected, "{uri} {hosts} {version:?}");
        }
        assert!(!is_host(&"a".repeat(MAX_HOST_LENGTH + 1)));
    }
}
