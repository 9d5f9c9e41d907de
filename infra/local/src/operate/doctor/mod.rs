//! Examines a deployment, or a database and a service elsewhere, and says what is wrong and what to
//! do about it. Nothing is changed.
//!
//! Facts are gathered first, side by side and each in one place; findings follow from the facts alone.
//! A fact that cannot be gathered is a finding of its own. Settings are not compared with the template:
//! CloudFormation's drift detection does that.

mod alarms;
mod aws;
pub mod command;
mod data;
mod database;
mod endpoints;
mod examined;
mod finding;
mod keys;
mod remedies;
mod stack;
mod stack_facts;
mod tables;

pub use database::{Conditions, DEFAULT_MAX_DAYS, examine_database};
pub use endpoints::{Target, examine_service};
pub use finding::{Examination, Finding, Group, State};
pub use remedies::Remedies;
pub use stack::{StackTarget, examine_stack};
