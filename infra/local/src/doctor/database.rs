//! What is examined of every deployment: the tables, the data in them, and the keys.

use std::time::Duration;

use ingest::{Progress, Verification};
use jiff::{SignedDuration, Timestamp};
use numbering::time::this_second;
use store::Store;

use super::{
    data::{self, DataFacts},
    finding::Group,
    keys::{self, KeyFacts},
    look::{Look, group, within},
    remedies::Remedies,
    tables::{self, Expected, Place, TableFacts},
    template_values::TemplateValues,
};
use crate::LocalError;

/// How an examination is made.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// How long each group of checks may take.
    pub limit: Duration,
    pub progress: &'a dyn Fn(Progress),
}

/// What the tables hold.
pub struct DatabaseFacts {
    place: Place,
    now: Timestamp,
    tables: Look<Vec<TableFacts>>,
    data: Look<DataFacts>,
    items: Look<Option<Verification>>,
    keys: Look<KeyFacts>,
}

/// Reads tables, data, items and keys, side by side.
pub async fn look(
    store: &Store,
    expected: Vec<Expected>,
    place: Place,
    conditions: Conditions<'_>,
) -> DatabaseFacts {
    let Conditions { limit, progress } = conditions;
    let (client, _) = store.parts();
    let now = this_second();
    let (tables, data, items, keys) = tokio::join!(
        within(limit, async { Ok(tables::look(client, expected, place).await) }),
        within(limit, data::look(store)),
        within(limit, data::look_at_items(store, progress)),
        within(limit, keys::look(store, now)),
    );
    DatabaseFacts { place, now, tables, data, items, keys }
}

/// What is to be said of all that.
pub fn groups(facts: &DatabaseFacts, values: &TemplateValues, remedies: &Remedies) -> Vec<Group> {
    let DatabaseFacts { place, now, tables, data, items, keys } = facts;
    let has_keys = keys.as_ref().map_or(true, |keys| !keys.keys.is_empty());
    let is_nightly = *place == Place::Aws;
    let longest_age = longest_age(values);
    vec![
        group("tables", tables, |tables| tables::findings(tables, *place, has_keys, remedies)),
        group("data", data, |data| data::findings(data, *now, longest_age, is_nightly, remedies)),
        group("items", items, |verification| {
            data::findings_of_items(verification.as_ref(), remedies)
        }),
        group("keys", keys, |keys| keys::findings(keys, *now, remedies)),
    ]
}

/// How old the data may be: what the stack says, or by default.
fn longest_age(values: &TemplateValues) -> SignedDuration {
    const DEFAULT_DAYS: i64 = 3;
    let days = values.parameter("MaxDataAge").and_then(|days| days.parse().ok());
    SignedDuration::from_hours(24 * days.unwrap_or(DEFAULT_DAYS))
}

/// Examines a database that is no stack's.
pub async fn examine_database(
    store: &Store,
    remedies: &Remedies,
    conditions: Conditions<'_>,
) -> Result<Vec<Group>, LocalError> {
    let values = TemplateValues::of_defaults()?;
    let (_, names) = store.parts();
    let expected = tables::expected(&values, names)?;
    let facts = look(store, expected, Place::Elsewhere, conditions).await;
    Ok(groups(&facts, &values, remedies))
}
