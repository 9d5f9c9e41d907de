//! Signed requests to services of AWS of which a few operations are needed. Building and loading
//! their SDKs would take minutes and megabytes.

mod account;
mod call;
mod service;
mod signature;

pub use account::{AccountError, AwsAccount, sdk_config};
pub use call::{CallError, MAX_ANSWER_BYTES, client_builder, first_bytes};
pub use service::{Service, domain};
pub use signature::SigningError;
