//! The failure of a request, without the secrets of the addresses that its causes name.

use std::{error::Error, fmt};

use super::without_secrets;

/// Why a request failed, and the cause of that. A redirect may lead to an address with a signature, which
/// any of the causes may name.
#[derive(Debug)]
pub(super) struct TransportError {
    message: String,
    is_transient: bool,
    cause: Option<Box<Self>>,
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        // The address that was asked for stands in the message about the source.
        Self::new(&error.without_url())
    }
}

impl TransportError {
    fn new(error: &(dyn Error + 'static)) -> Self {
        let of_request = error.downcast_ref::<reqwest::Error>();
        let mut message = error.to_string();
        if let Some(address) = of_request.and_then(reqwest::Error::url) {
            message = message.replace(address.as_str(), &without_secrets(address.as_str()));
        }
        let is_transient = of_request.is_none_or(|it| !it.is_builder() && !it.is_redirect());
        let cause = error.source().map(|cause| Box::new(Self::new(cause)));
        Self { message, is_transient, cause }
    }

    /// Whether another attempt may succeed.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
