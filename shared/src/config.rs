//! Settings for a function or server.

use std::{env, sync::Arc};

use crate::{
    flag_images::FlagImages,
    http::{AllowedOrigins, InvalidOrigins},
};

/// The settings for a function or server. Cheap to clone.
#[derive(Clone)]
pub struct Config {
    pub flag_images: FlagImages,
    /// The origins whose web pages may read responses.
    pub allowed_origins: AllowedOrigins,
    /// The Lambda function's name; `None` on a server. Functions log in CloudWatch's embedded metric format.
    pub function: Option<Arc<str>>,
    /// `true` if Lambda sends this container several requests at once.
    pub has_concurrent_requests: bool,
}

impl Default for Config {
    /// Any origin may read responses, since requests need a key anyway.
    fn default() -> Self {
        Self {
            flag_images: FlagImages::default(),
            allowed_origins: AllowedOrigins::Any,
            function: None,
            has_concurrent_requests: false,
        }
    }
}

impl Config {
    /// Reads the settings from the environment.
    pub fn from_env() -> Self {
        let setting = |name| env::var(name).ok();
        let flag_images = FlagImages::from_env().unwrap_or_else(|error| {
            tracing::error!(%error, "FLAGS_BASE_URL is invalid; flag links lead to this service");
            FlagImages::default()
        });
        let origins = setting("CORS_ORIGINS").unwrap_or_default().parse();
        let allowed_origins = origins.unwrap_or_else(|error: InvalidOrigins| {
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

/// Returns `true` if Lambda sends a container up to `max` requests at once, more than one.
fn is_concurrent(max: Option<&str>) -> bool {
    max.and_then(|max| max.parse().ok()).is_some_and(|max: u32| max > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_with_more_than_one_request_at_once_is_concurrent() {
        for (max, expected) in [(None, false), (Some("1"), false), (Some("2"), true)] {
            assert_eq!(is_concurrent(max), expected, "{max:?}");
        }
    }
}
