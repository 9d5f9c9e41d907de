//! The host for flag images.

use std::{convert::Infallible, env, str::FromStr, sync::Arc};

use axum::{
    extract::FromRequestParts,
    http::{Uri, request::Parts},
};

use crate::{public_address::PublicAddress, state::App};

/// The base URL of flag images on another host, without a trailing slash; `None` for this service, at the address that the
/// client used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlagImages(pub Option<Arc<str>>);

/// An invalid base URL. Valid ones are safe in responses, pages and content security policies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it must be an http or https URL such as https://cdn.example.com/flags, without a user, query, fragment, \
     spaces or quotes"
)]
pub struct InvalidFlagsBaseUrl;

impl FlagImages {
    pub fn from_env() -> Result<Self, InvalidFlagsBaseUrl> {
        env::var("FLAGS_BASE_URL").unwrap_or_default().parse()
    }
}

impl FromStr for FlagImages {
    type Err = InvalidFlagsBaseUrl;

    /// An empty setting means this service.
    fn from_str(setting: &str) -> Result<Self, InvalidFlagsBaseUrl> {
        match setting.trim_matches(' ').trim_end_matches('/') {
            "" => Ok(Self::default()),
            base_url if is_base_url(base_url) => Ok(Self(Some(base_url.into()))),
            _ => Err(InvalidFlagsBaseUrl),
        }
    }
}

/// Returns `true` for a URL that paths can be appended to, without characters that are special in HTML or headers.
fn is_base_url(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/%[]".contains(c);
    let is_address = |uri: Uri| {
        let scheme = uri.scheme_str().unwrap_or_default();
        ["http", "https"].contains(&scheme) && uri.host().is_some_and(|host| !host.is_empty())
    };
    text.chars().all(is_allowed) && text.parse().is_ok_and(is_address)
}

/// The base URL for flag images in a response, without a trailing slash; `None` if the address is unknown.
#[derive(Debug, Clone)]
pub struct FlagsBaseUrl(pub Option<String>);

impl FromRequestParts<App> for FlagsBaseUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        if let FlagImages(Some(base_url)) = &app.config.flag_images {
            return Ok(Self(Some(base_url.to_string())));
        }
        let PublicAddress(address) = PublicAddress::from_request_parts(parts, app).await?;
        Ok(Self(address.map(|address| format!("{address}/flags/{}", flags::VERSION))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case_table::rows;

    #[test]
    fn only_plain_http_urls_are_accepted_and_empty_means_this_service() {
        for [setting, expected] in rows(include_str!("flag_images.txt")) {
            let expected = match &*expected {
                "own" => Ok(FlagImages::default()),
                "invalid" => Err(InvalidFlagsBaseUrl),
                base_url => Ok(FlagImages(Some(base_url.into()))),
            };
            assert_eq!(setting.parse::<FlagImages>(), expected, "{setting:?}");
        }
    }
}
