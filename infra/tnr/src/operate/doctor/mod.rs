//! Diagnoses a stack, a database or a service, and suggests remedies. Changes nothing.
//!
//! Groups of checks run concurrently. A check that fails to run is itself a finding. CloudFormation's drift detection
//! compares settings with the template.

mod alarms;
mod aws;
pub mod command;
mod data;
mod endpoints;
mod finding;
mod items;
mod keys;
mod remedies;
mod stack;
mod stack_description;
mod tables;

use std::time::Duration;

use ingest::Progress;
use numbering::time::this_second;
use store::Store;

use self::{
    data::AgeLimits,
    finding::{Findings, Group},
    remedies::Remedies,
};

#[derive(Clone, Copy)]
struct Options<'a> {
    /// The timeout for each group of checks.
    limit: Duration,
    progress: &'a dyn Fn(Progress),
}

/// Checks any deployment's database: tables, data, items and keys.
async fn check_database(
    store: &Store,
    limits: &AgeLimits,
    remedies: &Remedies,
    Options { limit, progress }: Options<'_>,
) -> Vec<Group> {
    let now = this_second();
    let (tables, data, items, keys) = tokio::join!(
        Group::check("tables", limit, tables::check(store, remedies)),
        Group::check("data", limit, data::check(store, now, limits, remedies)),
        Group::check("items", limit, items::check(store, progress, remedies)),
        Group::check("keys", limit, keys::check(store, now, remedies)),
    );
    vec![tables, data, items, keys]
}
