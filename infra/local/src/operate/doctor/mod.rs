//! Diagnoses a stack, a database or a service, and suggests remedies. Changes nothing.
//!
//! Facts are gathered first, concurrently. Findings depend only on facts, and a fact that cannot be
//! gathered is itself a finding. CloudFormation's drift detection compares settings with the
//! template.

mod alarms;
mod aws;
pub mod command;
mod data;
mod database;
mod endpoints;
mod facts;
mod finding;
mod keys;
mod remedies;
mod stack;
mod stack_facts;
mod tables;
