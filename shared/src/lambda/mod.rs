//! The Lambda runtime: responses, and the extension.

pub(crate) mod buffered_response;
pub(crate) mod extension;
