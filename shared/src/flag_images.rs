//! The base URL of flag images in responses.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};

use crate::{config::FlagImages, public_address::PublicAddress, state::App};

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
