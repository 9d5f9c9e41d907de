//! Examines a deployment, or a database and a service elsewhere, and says what is wrong and what to
//! do about it. Nothing is changed.
//!
//! Facts are gathered first, side by side and each in one place; findings follow from the facts alone.
//! A fact that cannot be gathered is a finding of its own.

mod alarms;
mod aws;
mod data;
mod database;
mod deployment;
mod endpoint_requests;
mod endpoints;
mod finding;
mod function_settings;
mod functions;
mod keys;
mod look;
mod remedies;
mod schedules;
mod service;
mod stack;
mod tables;
mod template_values;

pub use database::{Conditions, examine_database};
pub use deployment::{StackTarget, examine_stack};
pub use endpoints::Target;
pub use finding::{Examination, Finding, Group, State};
pub use remedies::Remedies;
pub use service::examine_service;
