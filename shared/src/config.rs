//! Settings for a function or server.

use std::{env, str::FromStr, sync::Arc};

use axum::http::Uri;

use crate::http::AllowedOrigins;

/// The settings for a function or server. Cheap to clone.
#[derive(Clone, Default)]
pub struct Config {
    pub flag_images: FlagImages,
    /// The origins whose web pages may read responses.
    pub allowed_origins: AllowedOrigins,
    /// The Lambda function's name; `None` on a server. Functions log in CloudWatch's embedded metric format.
    pub function: Option<Arc<str>>,
    /// `true` if Lambda sends this container several requests at a time.
    pub has_concurrent_requests: bool,
}

impl Config {
    /// Reads the settings from the environment.
    pub fn from_env() -> Self {
        let setting = |name| env::var(name).ok();
        let flag_images = setting("FLAGS_BASE_URL").unwrap_or_default().parse::<FlagImages>();
        let flag_images = flag_images.unwrap_or_else(|error| {
            tracing::error!(%error, "FLAGS_BASE_URL is invalid; flag links lead to this service");
            FlagImages::default()
        });
        let origins = setting("CORS_ORIGINS").unwrap_or_default().parse::<AllowedOrigins>();
        let allowed_origins = origins.unwrap_or_else(|error| {
            tracing::error!(%error, "CORS_ORIGINS is invalid; no origin is allowed");
            AllowedOrigins::Listed(Arc::default())
        });
        let max_concurrency = setting("AWS_LAMBDA_MAX_CONCURRENCY");
        Self {
            flag_images,
            allowed_origins,
            function: setting("AWS_LAMBDA_FUNCTION_NAME").map(Arc::from),
            has_concurrent_requests: is_concurrent(max_concurrency.as_deref()),
        }
    }
}

/// Returns `true` if `max`, the most requests that Lambda sends a container at a time, is more than one.
fn is_concurrent(max: Option<&str>) -> bool {
    max.and_then(|max| max.parse().ok()).is_some_and(|max: u32| max > 1)
}

/// The base URL for flag images on another host, without a trailing slash; `None` to serve them from this service, at
/// the address that the client used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlagImages(pub Option<Arc<str>>);

impl FromStr for FlagImages {
    type Err = &'static str;

    /// An empty setting selects this service. A valid URL is safe in responses, pages and content security policies.
    fn from_str(setting: &str) -> Result<Self, Self::Err> {
        match setting.trim_matches(' ').trim_end_matches('/') {
            "" => Ok(Self::default()),
            base_url if is_base_url(base_url) => Ok(Self(Some(base_url.into()))),
            _ => Err(
                "it must be an http or https URL such as https://cdn.example.com/flags, without a \
                 user, query, fragment, spaces or quotes",
            ),
        }
    }
}

/// Returns `true` for a URL that a path can be appended to, without characters that are special in HTML or headers.
fn is_base_url(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/%[]".contains(c);
    let is_address = |uri: Uri| {
        let scheme = uri.scheme_str().unwrap_or_default();
        ["http", "https"].contains(&scheme) && uri.host().is_some_and(|host| !host.is_empty())
    };
    text.chars().all(is_allowed) && text.parse().is_ok_and(is_address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case_table::rows;

    #[test]
    fn container_with_several_requests_at_a_time_is_concurrent() {
        for (max, expected) in [(None, false), (Some("1"), false), (Some("2"), true)] {
            assert_eq!(is_concurrent(max), expected, "{max:?}");
        }
    }

    #[test]
    fn only_plain_http_urls_are_accepted_and_empty_means_this_service() {
        for [setting, expected] in rows(include_str!("flag_images.txt")) {
            let expected = match &*expected {
                "own" => Some(FlagImages::default()),
                "invalid" => None,
                base_url => Some(FlagImages(Some(base_url.into()))),
            };
            assert_eq!(setting.parse::<FlagImages>().ok(), expected, "{setting:?}");
        }
    }
}
