//! Lambda and API Gateway: events, responses, and the extension.

pub(crate) mod buffered_response;
pub(crate) mod extension;
pub mod gateway;
