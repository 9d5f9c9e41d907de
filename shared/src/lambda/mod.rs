//! Lambda and API Gateway: their events, their responses, and what runs beside the requests.

pub(crate) mod extension;
pub mod gateway;
pub(crate) mod whole_response;
