//! The probe: asks the functions behind the API what clients ask, and compares their answers.
//!
//! Before a deployment, CodeDeploy asks it whether the new versions may take over ([`deployment`]); every
//! five minutes, or when an operator asks, it checks the versions that serve, and the API as clients
//! reach it ([`public_api`]).
//!
//! [`event`] says what started it, [`targets`] where the functions are, and [`request`] makes the events
//! that API Gateway would make. [`functions`] invokes them, [`checks`] says what is asked in which order,
//! and [`expectations`] which answers are right. [`findings`] holds what came of it, for the log and the
//! metrics.

mod checks;
mod deployment;
mod event;
mod expectations;
mod findings;
mod functions;
mod handler;
mod public_api;
mod request;
mod targets;

pub use handler::handle;
pub use request::Request;
pub use targets::Function;
