//! A request's host, from `Host` or from the authority in its target, as in HTTP/2.

use std::net::Ipv6Addr;

use axum::http::{HeaderMap, Uri, Version, header::HOST, uri::Authority};

use crate::errors::ApiError;

const MAX_HOST_LENGTH: usize = 260;

const RULE: &str =
    "Host must be sent exactly once, as a name or an IP address with an optional port";

/// A request's host, with its port if present. An HTTP/1.1 request must have `Host`, but an authority in its
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

    /// A request's host, or an empty string; `None` if the request is rejected.
    fn host(uri: &str, hosts: &[&str], version: Version) -> Option<String> {
        let lines = hosts.iter().map(|host| (HOST, HeaderValue::from_str(host).unwrap()));
        let (uri, headers) = (uri.parse().unwrap(), lines.collect());
        let found = request_host(&uri, &headers, version).ok()?;
        Some(found.unwrap_or_default().to_owned())
    }

    #[test]
    fn invalid_hosts_are_rejected() {
        let invalid_hosts = "|:80|a:|a:+80|a:65536|a:b:c|[|[::1|[x]|a[b]|a b|a,b|a/b|a?b|a\"b|a\"><script>|é|user@a";
        let long = "a".repeat(300);
        for invalid in invalid_hosts.split('|').chain([&*long]) {
            assert_eq!(host("/", &[invalid], Version::HTTP_11), None, "{invalid}");
        }
    }

    #[test]
    fn exactly_one_host_is_required_and_the_authority_takes_precedence() {
        let versions = [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2];
        for [uri, hosts, version, expected] in rows(include_str!("hosts.txt")) {
            let lines: Vec<&str> = hosts.split(", ").filter(|host| *host != "none").collect();
            let is_named = |it: &Version| format!("{it:?}") == version;
            let found = host(&uri, &lines, versions.into_iter().find(is_named).unwrap());
            let found = found.map(|it| if it.is_empty() { "unknown".to_owned() } else { it });
            assert_eq!(found.as_deref().unwrap_or("rejected"), expected, "{uri} {hosts} {version}");
        }
    }
}
