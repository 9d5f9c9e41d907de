//! Request counts: one item per quota, of less than 1 KB however many containers share it, so that a write always takes
//! one write unit.
//!
//! Containers add their requests to the item. The item contains each container's last write, so that a write that is
//! repeated after a lost response counts once.

use std::{collections::BTreeMap, time::Duration};

use aws_sdk_dynamodb::{
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::SdkError,
    operation::update_item::UpdateItemError,
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure},
};

use crate::{Store, StoreError, Table, checksum::Item};

/// The timeout for a call. Requests may be waiting for it.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
/// The lifetime of an item in seconds after its last write. By then, its requests are outside every daily window.
const TIME_TO_LIVE: i64 = 26 * 60 * 60;

/// The length of the periods in which an item counts requests. An attribute name such as `h498684` is the letter and
/// the start of the period divided by its length. Older counts are removed.
pub struct Period {
    letter: char,
    pub seconds: i64,
    kept: usize,
}

const ACTIVITY: Period = Period { letter: 'a', seconds: Usage::ACTIVITY, kept: 3 };
/// The first letter of the attributes with the number of each container's last write.
const LAST_WRITE: char = 'w';

/// Request counts for each of [`Counts::PERIODS`], by start time in Unix seconds. Negative counts cancel requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(pub [BTreeMap<i64, i64>; Counts::PERIODS.len()]);

impl Counts {
    /// The periods in which requests expire: for the quota per minute, then per day.
    pub const PERIODS: [Period; 2] = [
        // Twice the number in a minute, so that a container with a wrong clock does not remove counts in use.
        Period { letter: 's', seconds: 5, kept: 24 },
        Period { letter: 'h', seconds: 60 * 60, kept: 26 },
    ];

    /// Adds requests at `at`, a Unix time in seconds.
    pub fn add(&mut self, requests: i64, at: i64) {
        for (counts, Period { seconds, .. }) in self.0.iter_mut().zip(Self::PERIODS) {
            *counts.entry(at - at.rem_euclid(seconds)).or_default() += requests;
        }
    }

    pub fn add_all(&mut self, other: &Self) {
        for (to, from) in self.0.iter_mut().zip(&other.0) {
            for (start, requests) in from {
                *to.entry(*start).or_default() += requests;
            }
        }
    }

    pub fn is_zero(&self) -> bool {
        self.0.iter().flat_map(BTreeMap::values).all(|requests| *requests == 0)
    }
}

/// The usage of a quota by all containers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    pub counts: Counts,
    /// The total time in milliseconds that containers were active, by the first second of each minute.
    pub activity: BTreeMap<i64, i64>,
    /// The number of each container's last write, for the containers that wrote last.
    pub last_writes: BTreeMap<String, i64>,
    /// The attributes that the next write removes.
    pub outdated: Vec<String>,
}

impl Usage {
    /// The maximum number of containers whose last writes are stored.
    pub const MAX_LAST_WRITES: usize = 16;
    /// The length of the periods in `activity`, in seconds.
    pub const ACTIVITY: i64 = 60;

    /// Returns `false` if the write has not been counted. `true` may be wrong if many containers have written since.
    pub fn may_contain(&self, write: &UsageWrite) -> bool {
        if let Some(number) = self.last_writes.get(&write.container) {
            return *number >= write.number;
        }
        let later = self.last_writes.values().filter(|number| **number > write.number);
        // One of them may be older, because a write does not remove its own container's entry.
        later.count() >= Self::MAX_LAST_WRITES - 1
    }
}

/// A container's write of request counts to a quota.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageWrite {
    /// The container's name: a few random letters and digits.
    pub container: String,
    /// The write's sequence number, higher than in the container's previous write.
    pub number: i64,
    pub counts: Counts,
    /// The time in milliseconds since the container's previous write.
    pub activity: BTreeMap<i64, i64>,
    pub outdated: Vec<String>,
}

impl UsageWrite {
    /// The attributes to increase, each with the number to add.
    fn additions(&self) -> Vec<(String, i64)> {
        let periods = Counts::PERIODS.into_iter().zip(&self.counts.0);
        let names = periods.chain([(ACTIVITY, &self.activity)]).flat_map(|(period, counts)| {
            counts.iter().map(move |(start, by)| (period.attribute(*start), *by))
        });
        names.filter(|(_, by)| *by != 0).collect()
    }
}

impl Period {
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

/// The numbers in attributes whose names start with a letter, by the rest of the name.
fn numbers(item: &Item, letter: char) -> impl Iterator<Item = (&str, i64)> {
    item.iter().filter_map(move |(name, value)| {
        Some((name.strip_prefix(letter)?, value.as_n().ok()?.parse().ok()?))
    })
}

impl Store {
    /// Adds a container's requests to a quota, unless they are already counted. Returns the usage of all containers.
    pub async fn add_usage(
        &self,
        quota_id: &str,
        write: &UsageWrite,
        now: i64,
    ) -> Result<Usage, StoreError> {
        let table = self.tables.name(Table::Usage);
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

    /// Reads the usage of a quota by all containers, with strong consistency.
    pub async fn usage(&self, quota_id: &str) -> Result<Usage, StoreError> {
        let table = self.tables.name(Table::Usage);
        let get = self.client.get_item().table_name(table).consistent_read(true);
        let get = get.key("id", AttributeValue::S(quota_id.to_owned()));
        let output = get.customize().config_override(no_retries()).send().await;
        let output = output.map_err(StoreError::call("GetItem", table))?;
        Ok(output.item.as_ref().map(parse).unwrap_or_default())
    }
}

/// Disables retries, because the next write repeats this one.
fn no_retries() -> Builder {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(CALL_TIMEOUT)
        .operation_timeout(CALL_TIMEOUT)
        .build();
    Builder::new().retry_config(RetryConfig::disabled()).timeout_config(timeouts)
}

/// The stored item from the error, if it already contains the write.
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
    let counts = Counts(Counts::PERIODS.map(|period| period.read(item, &mut outdated)));
    let activity = ACTIVITY.read(item, &mut outdated);
    let last_writes: BTreeMap<String, i64> = numbers(item, LAST_WRITE)
        .map(|(container, number)| (container.to_owned(), number))
        .collect();
    let mut oldest: Vec<(i64, &String)> =
        last_writes.iter().map(|(container, number)| (*number, container)).collect();
    oldest.sort_unstable();
    oldest.truncate(oldest.len().saturating_sub(Usage::MAX_LAST_WRITES));
    outdated.extend(oldest.iter().map(|(_, container)| format!("{LAST_WRITE}{container}")));
    Usage { counts, activity, last_writes, outdated }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_795_262_400;

    /// An item's size by DynamoDB's rules: names, and about a byte per two digits.
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
    fn outdated_attributes_are_removed_and_an_item_takes_one_write_unit() {
        let attribute = |period: &Period, ago, count| {
            (period.attribute(NOON - ago as i64 * period.seconds), count)
        };
        let last = |ago: i64| (format!("wAb{:02}", 99 - ago), NOON * 1000 - ago);
        let [steps, hours] = Counts::PERIODS;
        let kinds = [(&steps, 99_999), (&hours, 999_999), (&ACTIVITY, 99_999_999)];
        let newest = kinds.iter().flat_map(|&(period, count)| {
            (0..period.kept).map(move |ago| attribute(period, ago, count))
        });
        let kept: Vec<_> = newest.chain((0..16).map(last)).collect();
        let oldest = kinds.iter().map(|&(period, count)| attribute(period, period.kept, count));
        let outdated: Vec<_> = oldest.chain([last(16)]).collect();
        let full = item(kept.clone());
        assert!(size(&full) <= 1024, "{}", size(&full));
        assert!(parse(&full).outdated.is_empty());
        let found = parse(&item([kept, outdated.clone()].concat()));
        assert!(found.outdated.iter().eq(outdated.iter().map(|(name, _)| name)));
        assert_eq!(found.counts.0.each_ref().map(BTreeMap::len), [25, 27]);
        assert_eq!(found.counts.0[0][&(NOON - 24 * 5)], 99_999);
        assert_eq!(found.counts.0[1][&(NOON - 26 * 60 * 60)], 999_999);
        assert_eq!(found.activity[&(NOON - 3 * Usage::ACTIVITY)], 99_999_999);
    }

    #[test]
    fn unknown_write_may_be_counted_if_many_containers_have_written() {
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
        let mut usage = Usage::default();
        usage.counts.0[0].insert(10, -3);
        assert_eq!(parse(&item), usage);
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
        for (counts, seconds) in counts.0.iter().zip([5, 60 * 60]) {
            assert_eq!(counts, &BTreeMap::from([(NOON - seconds, 0), (NOON, 2)]));
        }
        counts.add(-2, NOON + 4);
        assert!(counts.is_zero());
    }
}
