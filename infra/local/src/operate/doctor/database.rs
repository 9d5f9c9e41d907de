//! Checks any deployment's database: tables, data and keys.

use std::time::Duration;

use ingest::Progress;
use numbering::time::this_second;
use store::Store;

use super::{
    data::{self, AgeLimits},
    facts::{group, with_timeout},
    finding::Group,
    keys,
    remedies::Remedies,
    tables,
};

#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    pub limit: Duration,
    pub progress: &'a dyn Fn(Progress),
}

/// Checks tables, data, items and keys concurrently.
pub async fn check_database(
    store: &Store,
    limits: &AgeLimits,
    remedies: &Remedies,
    CheckOptions { limit, progress }: CheckOptions<'_>,
) -> Vec<Group> {
    let (client, names) = store.parts();
    let now = this_second();
    let is_stack = remedies.is_stack();
    let (tables, data, items, keys) = tokio::join!(
        with_timeout(limit, async { Ok(tables::gather(client, names, is_stack).await) }),
        with_timeout(limit, data::gather(store)),
        with_timeout(limit, data::compare_items(store, progress)),
        with_timeout(limit, keys::gather(store, now)),
    );
    let has_keys = keys.as_ref().map_or(true, |keys| !keys.keys.is_empty());
    vec![
        group("tables", &tables, |tables| tables::findings(tables, has_keys, remedies)),
        group("data", &data, |data| data::findings(data, now, limits, remedies)),
        group("items", &items, |items| {
            let mut findings = data::item_findings(items.as_ref(), remedies);
            findings.extend(data::history_findings(items.as_ref(), remedies));
            findings
        }),
        group("keys", &keys, |keys| keys::findings(keys, now, remedies)),
    ]
}
