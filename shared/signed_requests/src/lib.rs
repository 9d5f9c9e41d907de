//! Signed requests to AWS services of which only a few operations are needed. Their SDKs would cost minutes of
//! build time and megabytes.

mod account;
mod call;
mod service;
mod signature;

pub use account::{AccountError, AwsAccount, sdk_config};
pub use call::{CallError, MAX_ANSWER_BYTES, client_builder, first_bytes};
pub use service::{Service, domain};
