//! Signature Version 4.

use std::{error::Error, time::SystemTime};

use aws_sigv4::{
    http_request::{
        PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
        UriPathNormalizationMode, sign,
    },
    sign::v4,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::{AwsAccount, CallError, Service};

impl AwsAccount {
    /// Signs a request, including `headers`, and returns the headers to add.
    pub fn signed_headers(
        &self,
        service: Service,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<HeaderMap, CallError> {
        let sign_request = || -> Result<HeaderMap, Box<dyn Error + Send + Sync>> {
            let identity = self.credentials.clone().into();
            let parameters = v4::SigningParams::builder()
                .identity(&identity)
                .region(self.region())
                .name(service.signing_name())
                .time(SystemTime::now())
                .settings(settings(service))
                .build()?;
            let headers = headers.iter().copied();
            let unsigned =
                SignableRequest::new(method, address, headers, SignableBody::Bytes(body))?;
            let (instructions, _) = sign(unsigned, &parameters.into())?.into_parts();
            let mut signature = HeaderMap::new();
            for (name, value) in instructions.headers() {
                signature.insert(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
            }
            Ok(signature)
        };
        sign_request().map_err(CallError::Signing)
    }
}

/// S3 requires a path that is encoded once and not normalized, and a header with the body's hash. Other services
/// require a path that is encoded twice.
fn settings(service: Service) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if service == Service::S3 {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}
