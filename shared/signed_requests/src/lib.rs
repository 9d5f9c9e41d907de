//! Signed requests to services of AWS of which a few operations are needed. Building and loading
//! their SDKs would take minutes and megabytes.

mod account;
mod body;
mod call;
mod service;
mod signature;

pub use account::{AccountError, AwsAccount, sdk_config};
pub use body::{MAX_ANSWER_BYTES, first_bytes};
pub use call::{CallError, client_builder};
pub use service::{Service, domain};
pub use signature::SigningError;
