//! Request counts: one item per quota, of less than 1 KB however many containers share it. So a write always takes one
//! write unit.
//!
//! Containers add their requests. The item remembers each container's last write, so a write that is repeated after a
//! lost response counts once.

use std::{collections::BTreeMap, time::Duration};

use aws_sdk_dynamodb::{
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::SdkError,
    operation::update_item::UpdateItemError,
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure},
};

use crate::{Store, StoreError, checksum::Item};

/// The timeout for a call, which requests may be waiting for.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
/// The lifetime of an item in seconds after the last write: until its requests are outside every daily window.
const TIME_TO_LIVE: i64 = 26 * Counts::HOUR;

/// A kind of counts in an item: the first letter of their attributes, whose rest is the start of a period divided by its
/// length in seconds, as in `h498684`. Older ones are removed.
struct Kind {
    letter: char,
    seconds: i64,
    kept: usize,
}

const HOURS: Kind = Kind { letter: 'h', seconds: Counts::HOUR, kept: 26 };
/// Twice as many as in a minute, so that a container with a wrong clock does not remove those that count.
const STEPS: Kind = Kind { letter: 's', seconds: Counts::STEP, kept: 24 };
const ACTIVITY: Kind = Kind { letter: 'a', seconds: Usage::ACTIVITY, kept: 3 };
/// The first letter of the attributes with the number of each container's last write.
const LAST_WRITE: char = 'w';

/// Requests by the first second of the hour, and of the five seconds, in which they were sent. A negative number takes
/// requests back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub hours: BTreeMap<i64, i64>,
    pub steps: BTreeMap<i64, i64>,
}

impl Counts {
    /// In seconds.
    pub const HOUR: i64 = 60 * 60;
    /// In seconds.
    pub const STEP: i64 = 5;

    /// Adds requests at `at`, a Unix time in seconds.
    pub fn add(&mut self, requests: i64, at: i64) {
        *self.hours.entry(at - at.rem_euclid(Self::HOUR)).or_default() += requests;
        *self.steps.entry(at - at.rem_euclid(Self::STEP)).or_default() += requests;
    }

    pub fn add_all(&mut self, other: &Self) {
        for (to, from) in [(&mut self.hours, &other.hours), (&mut self.steps, &other.steps)] {
            for (start, requests) in from {
                *to.entry(*start).or_default() += requests;
            }
        }
    }

    pub fn is_zero(&self) -> bool {
        self.hours.values().chain(self.steps.values()).all(|requests| *requests == 0)
    }
}

/// The usage of a quota by all containers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub counts: Counts,
    /// The sum of the times in milliseconds that containers have been active, by the first second of each minute.
    pub activity: BTreeMap<i64, i64>,
    /// The number of each container's last write, for the last containers that wrote.
    pub last_writes: BTreeMap<String, i64>,
    /// The attributes that the next write removes.
    pub outdated: Vec<String>,
}

impl Usage {
    /// The number of containers whose last writes are known.
    pub const MAX_LAST_WRITES: usize = 16;
    /// The length of the periods in `activity` in seconds.
    pub const ACTIVITY: i64 = 60;

    /// Returns `false` if a write is not counted. `true` is certain unless as many containers have written since.
    pub fn may_contain(&self, write: &UsageWrite) -> bool {
        if let Some(number) = self.last_writes.get(&write.container) {
            return *number >= write.number;
        }
        let later = self.last_writes.values().filter(|number| **number > write.number);
        // One of them may be older, since its own write does not remove it.
        later.count() >= Self::MAX_LAST_WRITES - 1
    }
}

/// A container's write for a quota.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageWrite {
    /// The container's name: a few random letters and digits.
    pub container: String,
    /// Higher than in the container's previous write.
    pub number: i64,
    pub counts: Counts,
    /// The time in milliseconds since its previous write.
    pub activity: BTreeMap<i64, i64>,
    pub outdated: Vec<String>,
}

impl UsageWrite {
    /// The attributes to add to.
    fn additions(&self) -> Vec<(String, i64)> {
        let Counts { hours, steps } = &self.counts;
        let kinds = [(HOURS, hours), (STEPS, steps), (ACTIVITY, &self.activity)];
        let names = kinds.into_iter().flat_map(|(kind, counts)| {
            counts.iter().map(move |(start, by)| (kind.attribute(*start), *by))
        });
        names.filter(|(_, by)| *by != 0).collect()
    }
}

impl Kind {
    fn attribute(&self, start: i64) -> String {
        format!("{}{}", self.letter, start / self.seconds)
    }

    /// Reads the counts, and adds the names of outdated ones.
    fn read(&self, item: &Item, outdated: &mut Vec<String>) -> BTreeMap<i64, i64> {
        let start = |key: &str| key.parse::<i64>().ok()?.checked_mul(self.seconds);
        let counts: BTreeMap<i64, i64> = numbers(item, self.letter)
            .filter_map(|(key, count)| Some((start(key)?, count)))
            .collect();
        outdated.extend(counts.keys().rev().skip(self.kept).map(|start| self.attribute(*start)));
        counts
    }
}

/// The numbers in the attributes that begin with a letter, by the rest of their names.
fn numbers(item: &Item, letter: char) -> impl Iterator<Item = (&str, i64)> {
    item.iter().filter_map(move |(name, value)| {
        Some((name.strip_prefix(letter)?, value.as_n().ok()?.parse().ok()?))
    })
}

impl Store {
    /// Adds a container's requests to a quota, unless they are counted already. Returns the usage of all containers.
    pub async fn add_usage(
        &self,
        quota_id: &str,
        write: &UsageWrite,
        now: i64,
    ) -> Result<Usage, StoreError> {
        let table = &self.tables.usage;
        let last_write = format!("{LAST_WRITE}{}", write.container);
        let additions = write.additions();
        let mut update = self
            .client
            .update_item()
            .table_name(table)
            .key("id", AttributeValue::S(quota_id.to_owned()))
            .condition_expression("attribute_not_exists(#last) OR #last < :number")
            .expression_attribute_names("#last", &last_write)
            .expression_attribute_values(":number", number(write.number))
            .expression_attribute_values(":ends", number(now + TIME_TO_LIVE))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let mut clauses = Vec::new();
        for (name, by) in &additions {
            clauses.push(format!("{name} :{name}"));
            update = update.expression_attribute_values(format!(":{name}"), number(by));
        }
        let mut expression = "SET #last = :number, expires_at = :ends".to_owned();
        if !clauses.is_empty() {
            expression += &format!(" ADD {}", clauses.join(", "));
        }
        let is_written =
            |name: &String| *name == last_write || additions.iter().any(|(added, _)| added == name);
        let outdated = write.outdated.iter().filter(|name| !is_written(name));
        let mut removals = Vec::new();
        for (index, name) in outdated.enumerate() {
            removals.push(format!("#r{index}"));
            update = update.expression_attribute_names(format!("#r{index}"), name);
        }
        if !removals.is_empty() {
            expression += &format!(" REMOVE {}", removals.join(", "));
        }
        let update = update.update_expression(expression);
        match update.customize().config_override(no_retries()).send().await {
            Ok(output) => Ok(output.attributes.as_ref().map(parse).unwrap_or_default()),
            Err(error) => match counted_item(&error) {
                Some(item) => Ok(parse(item)),
                None => Err(StoreError::call("UpdateItem", table)(error)),
            },
        }
    }

    /// Reads the usage of a quota by all containers, strongly consistently.
    pub async fn usage(&self, quota_id: &str) -> Result<Usage, StoreError> {
        let table = &self.tables.usage;
        let get = self.client.get_item().table_name(table).consistent_read(true);
        let get = get.key("id", AttributeValue::S(quota_id.to_owned()));
        let output = get.customize().config_override(no_retries()).send().await;
        let output = output.map_err(StoreError::call("GetItem", table))?;
        Ok(output.item.as_ref().map(parse).unwrap_or_default())
    }
}

/// Disables retries, since the next write repeats this one.
fn no_retries() -> Builder {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(CALL_TIMEOUT)
        .operation_timeout(CALL_TIMEOUT)
        .build();
    Builder::new().retry_config(RetryConfig::disabled()).timeout_config(timeouts)
}

/// The stored item, if it already contains the write.
fn counted_item(error: &SdkError<UpdateItemError>) -> Option<&Item> {
    match error.as_service_error()? {
        UpdateItemError::ConditionalCheckFailedException(failed) => failed.item(),
        _ => None,
    }
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Parses an item. Ignores attributes that are not counts.
fn parse(item: &Item) -> Usage {
    let mut outdated = Vec::new();
    let [hours, steps, activity] =
        [HOURS, STEPS, ACTIVITY].map(|kind| kind.read(item, &mut outdated));
    let last_writes: BTreeMap<String, i64> = numbers(item, LAST_WRITE)
        .map(|(container, number)| (container.to_owned(), number))
        .collect();
    let mut oldest: Vec<(i64, &String)> =
        last_writes.iter().map(|(container, number)| (*number, container)).collect();
    oldest.sort_unstable();
    oldest.truncate(oldest.len().saturating_sub(Usage::MAX_LAST_WRITES));
    outdated.extend(oldest.iter().map(|(_, container)| format!("{LAST_WRITE}{container}")));
    Usage { counts: Counts { hours, steps }, activity, last_writes, outdated }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_262_400;

    /// An item's size as DynamoDB counts it: names, and about a byte for two digits.
    fn size(item: &Item) -> usize {
        let value = |value: &AttributeValue| match value {
            AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
            other => other.as_s().unwrap().len(),
        };
        item.iter().map(|(name, attribute)| name.len() + value(attribute)).sum()
    }

    fn item(counts: impl IntoIterator<Item = (String, i64)>) -> Item {
        let counts = counts.into_iter().map(|(name, count)| (name, number(count)));
        let id = ("id".to_owned(), AttributeValue::S("0".repeat(64)));
        counts.chain([id, ("expires_at".to_owned(), number(NOON))]).collect()
    }

    #[test]
    fn the_newest_attributes_of_each_kind_are_kept_in_less_than_one_write_unit() {
        let count =
            |kind: Kind, count| move |ago: i64| (kind.attribute(NOON - ago * kind.seconds), count);
        let (hour, step) = (count(HOURS, 999_999), count(STEPS, 99_999));
        let activity = count(ACTIVITY, 99_999_999);
        let last = |ago: i64| (format!("wAb{:02}", 99 - ago), NOON * 1000 - ago);
        let kept = (0..26).map(&hour).chain((0..24).map(&step));
        let kept = kept.chain((0..3).map(&activity)).chain((0..16).map(last));
        let outdated = [hour(26), step(24), activity(3), last(16)];
        let full = item(kept.clone());
        assert!(size(&full) <= 1024, "{}", size(&full));
        assert!(parse(&full).outdated.is_empty());
        let found = parse(&item(kept.chain(outdated.clone())));
        assert_eq!(found.outdated, outdated.map(|(name, _)| name));
        assert_eq!(found.counts.hours.len(), 27);
        assert_eq!(found.counts.hours[&(NOON - 26 * Counts::HOUR)], 999_999);
        assert_eq!(found.counts.steps[&(NOON - 24 * Counts::STEP)], 99_999);
        assert_eq!(found.activity[&(NOON - 3 * Usage::ACTIVITY)], 99_999_999);
    }

    #[test]
    fn a_write_may_be_counted_unless_its_container_is_known_or_few_have_written() {
        let write =
            |number| UsageWrite { container: "mine".to_owned(), number, ..UsageWrite::default() };
        let others = |count, number| (0..count).map(move |other| (other.to_string(), number));
        let usage = |last_writes| Usage { last_writes, ..Usage::default() };
        let with_mine = usage(BTreeMap::from([("mine".to_owned(), 5)]));
        assert_eq!([5, 6].map(|number| with_mine.may_contain(&write(number))), [true, false]);
        for (count, number, expected) in [(14, 9, false), (15, 9, true), (16, 5, false)] {
            let usage = usage(others(count, number).collect());
            assert_eq!(usage.may_contain(&write(5)), expected, "{count} {number}");
        }
    }

    #[test]
    fn attributes_that_are_not_counts_are_ignored() {
        let mut item = item([("hours".to_owned(), 1), ("x1".to_owned(), 1), (String::new(), 1)]);
        item.insert("h1".to_owned(), AttributeValue::S("1".to_owned()));
        item.insert("h99999999999999999".to_owned(), number(1));
        item.insert("s2".to_owned(), number(-3));
        let steps = BTreeMap::from([(10, -3)]);
        let counts = Counts { steps, ..Counts::default() };
        assert_eq!(parse(&item), Usage { counts, ..Usage::default() });
    }

    #[test]
    fn counts_are_added_by_hour_and_step() {
        let mut counts = Counts::default();
        counts.add(3, NOON - 1);
        assert!(!counts.is_zero());
        let mut others = Counts::default();
        others.add(-3, NOON - 5);
        others.add(2, NOON);
        counts.add_all(&others);
        let hours = BTreeMap::from([(NOON - Counts::HOUR, 0), (NOON, 2)]);
        let steps = BTreeMap::from([(NOON - Counts::STEP, 0), (NOON, 2)]);
        assert_eq!(counts, Counts { hours, steps });
        counts.add(-2, NOON + 4);
        assert!(counts.is_zero());
    }
}
