//! The probe: sends requests to the functions behind the API and checks the responses.
//!
//! Before a deployment, CodeDeploy invokes it to check the new versions ([`deployment`]). Every five minutes, or when
//! an operator invokes it, it checks the live versions, and the API at its URL.
//!
//! [`checks`] lists the requests and their expected responses. `tnr doctor` sends the same requests over HTTP. The
//! probe invokes the [`functions`] with API Gateway events ([`request`]). [`targets`] selects the versions to invoke,
//! and [`findings`] collects the outcomes.

mod api;
mod checks;
mod deployment;
mod event;
mod expectation;
mod findings;
mod functions;
mod handler;
mod http_api;
mod request;
mod targets;

pub use api::{Api, RequestError, Response};
pub use checks::{Check, check_all, keyed_checks};
pub use expectation::{CheckError, Expectation};
pub use findings::{Findings, Outcome};
pub use handler::handle;
pub use http_api::HttpApi;
pub use request::Request;
pub use targets::Function;
