//! Lambda and API Gateway: their events, their responses, and what runs beside the requests.

pub(crate) mod buffered_response;
pub(crate) mod extension;
pub mod gateway;
