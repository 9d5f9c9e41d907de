//! Examines any deployment's database: tables, data and keys.

use std::time::Duration;

use ingest::Progress;
use jiff::SignedDuration;
use numbering::time::this_second;
use store::Store;

use super::{
    data,
    examined::{group, within},
    finding::Group,
    keys,
    remedies::Remedies,
    tables,
};

/// Maximum age of data in days, unless a stack sets another.
pub const DEFAULT_MAX_DAYS: i64 = 3;

/// An examination's limits and progress.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// Timeout of each group of checks.
    pub limit: Duration,
    pub progress: &'a dyn Fn(Progress),
}

/// Examines tables, data, items and keys concurrently.
pub async fn examine_database(
    store: &Store,
    max_days: i64,
    remedies: &Remedies,
    conditions: Conditions<'_>,
) -> Vec<Group> {
    let Conditions { limit, progress } = conditions;
    let (client, names) = store.parts();
    let now = this_second();
    let is_stack = remedies.is_of_stack();
    let (tables, data, items, keys) = tokio::join!(
        within(limit, async { Ok(tables::look(client, names, is_stack).await) }),
        within(limit, data::look(store)),
        within(limit, data::look_at_items(store, progress)),
        within(limit, keys::look(store, now)),
    );
    let has_keys = keys.as_ref().map_or(true, |keys| !keys.keys.is_empty());
    let max_age = SignedDuration::from_hours(24 * max_days);
    vec![
        group("tables", &tables, |tables| tables::findings(tables, has_keys, remedies)),
        group("data", &data, |data| data::findings(data, now, max_age, remedies)),
        group("items", &items, |items| data::findings_of_items(items.as_ref(), remedies)),
        group("keys", &keys, |keys| keys::findings(keys, now, remedies)),
    ]
}
