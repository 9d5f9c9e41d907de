//! The settings of a function or server.

use std::{env, sync::Arc};

use crate::{auth::OriginSecrets, flag_images::FlagImages, http::AllowedOrigins};

/// The settings of a function or server. Cheap to clone.
#[derive(Clone)]
pub struct Config {
    /// The host of the flag images that responses link to.
    pub flag_images: FlagImages,
    /// The origins whose pages may read responses in a browser.
    pub allowed_origins: AllowedOrigins,
    /// The secrets that requests from API Gateway must carry, if any.
    pub origin_secrets: OriginSecrets,
    /// The name of the Lambda function, whose access log has CloudWatch's format; `None` elsewhere.
    pub function: Option<Arc<str>>,
    /// `true` if Lambda gives this container several requests at once.
    pub takes_several_requests: bool,
}

impl Default for Config {
    /// Pages of all origins may read responses, since they need a key anyway.
    fn default() -> Self {
        Self {
            flag_images: FlagImages::Own,
            allowed_origins: AllowedOrigins::Any,
            origin_secrets: OriginSecrets::parse(""),
            function: None,
            takes_several_requests: false,
        }
    }
}

impl Config {
    /// Reads the settings from the environment.
    pub fn from_env() -> Self {
        let setting = |name| env::var(name).ok();
        let flag_images = FlagImages::from_env().unwrap_or_else(|error| {
            tracing::error!(%error, "the service links to its own images of flags");
            FlagImages::Own
        });
        let origins = setting("CORS_ORIGINS").map(|list| AllowedOrigins::parse(&list));
        let requests = setting("AWS_LAMBDA_MAX_CONCURRENCY").and_then(|most| most.parse().ok());
        Self {
            flag_images,
            allowed_origins: origins.unwrap_or(AllowedOrigins::Any),
            origin_secrets: OriginSecrets::parse(&setting("ORIGIN_SECRET").unwrap_or_default()),
            function: setting("AWS_LAMBDA_FUNCTION_NAME").map(Arc::from),
            takes_several_requests: requests.is_some_and(|most: u32| most > 1),
        }
    }
}
