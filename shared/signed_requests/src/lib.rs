//! Signed requests to AWS services. This service needs only a few operations from each, and their SDKs would add
//! minutes of build time and megabytes of code.

mod account;
mod call;
mod service;
mod signature;

pub use account::{AccountError, AwsAccount, sdk_config};
pub use call::{CallError, MAX_RESPONSE_BYTES, client_builder, first_bytes};
pub use service::{Service, domain};
