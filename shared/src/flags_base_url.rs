//! Where the images of flags are for the client of one request.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};

use crate::{flag_images::FlagImages, public_address::PublicAddress, state::App};

/// The path below which the service serves the images itself.
const OWN_PATH: &str = "/flags";

/// The address below which the images are for one request, without a slash at the end, if there is one.
/// [`flags::path`] says what follows.
#[derive(Debug, Clone)]
pub struct FlagsBaseUrl(pub Option<String>);

impl FromRequestParts<App> for FlagsBaseUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(match &app.flag_images {
            FlagImages::At(base_url) => Some(base_url.to_string()),
            FlagImages::Own => match PublicAddress::from_request_parts(parts, app).await? {
                PublicAddress::At(address) => {
                    Some(format!("{address}{OWN_PATH}/{}", flags::VERSION))
                }
                PublicAddress::Nowhere => None,
            },
        }))
    }
}
