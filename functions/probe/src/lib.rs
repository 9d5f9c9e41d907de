//! The probe: sends requests to the functions behind the API and checks the responses.
//!
//! Before a deployment, CodeDeploy invokes it to check the new versions ([`handler`]). Every five minutes, or when
//! an operator invokes it, it checks the live versions, and the API at its URL.
//!
//! [`checks`] lists the requests and their expected responses. `tnr doctor` sends the same requests over HTTP
//! ([`functions`]). The probe invokes the [`functions`] with API Gateway events ([`request`]), and [`findings`] collects
//! the outcomes.

mod checks;
mod findings;
mod functions;
mod handler;
mod request;
mod response;

pub use checks::{check_keyed, check_public};
pub use findings::{Findings, Outcome};
pub use functions::HttpApi;
pub use handler::handle;
pub use request::{Function, Request};
pub use response::{CheckError, RequestError};
