//! Where the images of flags are, to which answers link.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};

use crate::{public_address::PublicAddress, state::App};

/// The path below which the service serves the images itself.
const OWN_PATH: &str = "/flags";

/// Who serves the images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagImages {
    /// The service, at the address that the client has reached.
    Own,
    /// A host of the operator's choice: its address, without a slash at the end.
    At(Arc<str>),
}

/// The address below which the images are for one request, without a slash at the end. [`flags::path`]
/// says what follows.
#[derive(Debug, Clone)]
pub struct FlagsBaseUrl(pub String);

impl FlagImages {
    /// What the setting `FLAGS_BASE_URL` says; nothing in it stands for the service itself.
    pub fn of(setting: &str) -> Self {
        match setting.trim().trim_end_matches('/') {
            "" => Self::Own,
            base_url => Self::At(base_url.into()),
        }
    }
}

impl FromRequestParts<App> for FlagsBaseUrl {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(match &app.flag_images {
            FlagImages::At(base_url) => base_url.to_string(),
            FlagImages::Own => {
                let PublicAddress(address) = PublicAddress::from_request_parts(parts, app).await?;
                format!("{address}{OWN_PATH}/{}", flags::VERSION)
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_serves_the_images_unless_another_host_is_named() {
        for nobody in ["", " ", "/"] {
            assert_eq!(FlagImages::of(nobody), FlagImages::Own, "'{nobody}'");
        }
        let host = FlagImages::At("https://cdn.example/flags".into());
        for named in ["https://cdn.example/flags", " https://cdn.example/flags/ "] {
            assert_eq!(FlagImages::of(named), host, "'{named}'");
        }
    }
}
