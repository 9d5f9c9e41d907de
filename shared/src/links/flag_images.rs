//! The host of the flag images that responses link to.

use std::{convert::Infallible, env, str::FromStr, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{Uri, request::Parts},
};

use crate::{public_address::PublicAddress, state::App};

/// The environment variable that sets another host.
const VARIABLE: &str = "FLAGS_BASE_URL";

/// The server of the images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagImages {
    /// This service, at the address the client used.
    Own,
    /// A host chosen by the operator: its address without a trailing slash.
    At(Arc<str>),
}

/// An invalid image address. The setting ends up in responses, pages and their content security policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{VARIABLE} must be an address such as https://cdn.example.com/flags, with http or https, without a \
     user, a query, spaces or quotes; got '{}'", .0.escape_debug()
)]
pub struct InvalidFlagsBaseUrl(String);

impl FlagImages {
    /// Reads the setting from the environment.
    pub fn from_env() -> Result<Self, InvalidFlagsBaseUrl> {
        env::var(VARIABLE).unwrap_or_default().parse()
    }
}

impl FromStr for FlagImages {
    type Err = InvalidFlagsBaseUrl;

    /// Parses a setting; if it is empty, the service itself is used.
    fn from_str(setting: &str) -> Result<Self, InvalidFlagsBaseUrl> {
        match setting.trim_matches(' ').trim_end_matches('/') {
            "" => Ok(Self::Own),
            base_url if is_base_url(base_url) => Ok(Self::At(base_url.into())),
            _ => Err(InvalidFlagsBaseUrl(setting.to_owned())),
        }
    }
}

/// Returns `true` if paths can be appended to this address, and it has no special characters for HTML, headers
/// or policies.
fn is_base_url(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/%[]".contains(c);
    let is_address = |uri: Uri| {
        let scheme = uri.scheme_str().unwrap_or_default();
        ["http", "https"].contains(&scheme) && uri.host().is_some_and(|host| !host.is_empty())
    };
    text.chars().all(is_allowed) && text.parse().is_ok_and(is_address)
}

/// The base address of the images for one request, without a trailing slash, if there is one. Append
/// [`flags::path`] to it.
#[derive(Debug, Clone)]
pub struct FlagsBaseUrl(pub Option<String>);

impl FromRequestParts<App> for FlagsBaseUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        if let FlagImages::At(base_url) = &app.config.flag_images {
            return Ok(Self(Some(base_url.to_string())));
        }
        Ok(Self(match PublicAddress::from_request_parts(parts, app).await? {
            PublicAddress::At(address) => Some(format!("{address}/flags/{}", flags::VERSION)),
            PublicAddress::Nowhere => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_address_is_plain_http_or_the_service_itself() {
        for own in ["", " ", "/"] {
            assert_eq!(own.parse(), Ok(FlagImages::Own), "'{own}'");
        }
        let other = FlagImages::At("https://cdn.example/flags".into());
        assert_eq!(" https://cdn.example/flags/ ".parse(), Ok(other));
        for address in [
            "https://cdn.example:8443/a/b-c_d~e/%20",
            "http://[::1]:9000/flags",
            "http://localhost",
        ] {
            assert_eq!(address.parse(), Ok(FlagImages::At(address.into())));
        }
        for wrong in [
            "javascript://cdn.example/%0aalert(1)",
            "//cdn.example/flags",
            "https://",
            "https://user:password@cdn.example",
            "https://cdn.example/flags?version=1",
            "https://cdn.example/flags\r\nX-Injected: 1",
            "https://cdn.example/\"><script>",
            "https://cdn.example;script-src",
            "https://cdn.example\\flags",
            "https://\u{441}dn.example",
        ] {
            let refused = wrong.parse::<FlagImages>().unwrap_err().to_string();
            assert!(refused.starts_with("FLAGS_BASE_URL must be an address"), "{refused}");
            assert!(!refused.contains(char::is_control), "{refused}");
        }
    }
}
