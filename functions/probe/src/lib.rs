//! The probe: calls the functions behind the API as clients do, and compares their answers.
//!
//! Before a deployment, CodeDeploy asks it whether the new versions may take over ([`deployment`]). Every five minutes,
//! or on an operator's request, it checks the live versions, and the API as clients reach it.
//!
//! [`checks`] lists the requests, each with the [`expectation`] of its answer. `tnr doctor` runs the same checks over
//! HTTP. The probe invokes the [`functions`] with API Gateway events ([`request`]); [`targets`] names their versions,
//! and [`findings`] is the outcome.

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

pub use api::{Answer, Api, NoAnswer};
pub use checks::{Check, check_all, keyed_checks};
pub use expectation::{CheckError, Expectation};
pub use findings::{Findings, Outcome};
pub use handler::handle;
pub use http_api::HttpApi;
pub use request::Request;
pub use targets::Function;
