//! The probe: asks the functions behind the API what clients ask, and compares their answers.
//!
//! Before a deployment, CodeDeploy asks it whether the new versions may take over ([`deployment`]). Every
//! five minutes, or when an operator asks, it checks the versions that serve, and the API as clients
//! reach it.
//!
//! [`checks`] is the list of requests with the [`expectation`] of each answer. `tnr doctor` makes the
//! same checks over HTTP. The probe invokes the [`functions`] with the events that API Gateway
//! would make ([`request`]); [`targets`] names their versions, and [`findings`] is the outcome.

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
