//! Request counts: one item per quota and hour, with one attribute per container.
//!
//! A container writes only its own total, so repeated or late writes change nothing. The number of requests is the
//! sum over all containers.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::SdkError,
    operation::update_item::UpdateItemError,
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use backon::ExponentialBuilder;

use crate::{
    Store, StoreError,
    batch_get::{BatchGet, primary_key},
    checksum::Item,
};

/// The timeout for a call, which requests may be waiting for.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
const SECONDS_PER_HOUR: i64 = 60 * 60;
/// The lifetime of an item in seconds from the start of its hour: until it is outside every daily window, plus one
/// hour.
const TIME_TO_LIVE: i64 = 26 * SECONDS_PER_HOUR;

/// A container's request count for a quota in one hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    pub count: u64,
    /// Higher versions are newer. A newer count may be lower, since requests are counted before they are admitted.
    pub version: u64,
    /// The requests in each bucket of about the last minute, by the bucket's first second.
    pub recent: Vec<(i64, u64)>,
}

/// The tallies for one hour, by container.
pub type HourlyTallies = HashMap<String, Tally>;

impl Store {
    /// Replaces `container`'s tally unless the stored one is as new or newer. Returns all containers' tallies.
    pub async fn put_tally(
        &self,
        quota_id: &str,
        hour: i64,
        container: &str,
        tally: &Tally,
    ) -> Result<HourlyTallies, StoreError> {
        let table = &self.tables.usage;
        let update = self
            .client
            .update_item()
            .table_name(table)
            .key("id", AttributeValue::S(item_id(quota_id, hour)))
            .update_expression("SET #container = :tally, expires_at = :ends")
            .condition_expression("attribute_not_exists(#container) OR #container[1] < :version")
            .expression_attribute_names("#container", container)
            .expression_attribute_values(":tally", tally_to_attribute(tally, hour))
            .expression_attribute_values(":version", number(tally.version))
            .expression_attribute_values(":ends", number(hour + TIME_TO_LIVE))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let item = match update.customize().config_override(no_retries()).send().await {
            Ok(output) => output.attributes,
            Err(error) => match newer_item(&error) {
                Some(item) => Some(item.clone()),
                None => return Err(StoreError::call("UpdateItem", table)(error)),
            },
        };
        Ok(item.map(|item| tallies_from_item(&item, hour)).unwrap_or_default())
    }

    /// Reads all containers' tallies for up to 100 hours, strongly consistently. Omits hours without requests.
    pub async fn usage(
        &self,
        quota_id: &str,
        hours: &[i64],
    ) -> Result<HashMap<i64, HourlyTallies>, StoreError> {
        let table = &self.tables.usage;
        let hours_by_id: HashMap<String, i64> =
            hours.iter().map(|hour| (item_id(quota_id, *hour), *hour)).collect();
        let batch = BatchGet {
            table,
            is_consistent: true,
            delays: ExponentialBuilder::new().with_max_times(0),
            config: Some(no_retries()),
        };
        let keys = hours_by_id.keys().map(|id| primary_key([("id", id.clone())]));
        let items = self.batch_get(batch, keys).await?;
        let parse = |item: &Item| {
            let hour = *hours_by_id.get(item.get("id")?.as_s().ok()?)?;
            Some((hour, tallies_from_item(item, hour)))
        };
        Ok(items.iter().filter_map(parse).collect())
    }
}

fn item_id(quota_id: &str, hour: i64) -> String {
    format!("{quota_id}#{hour}")
}

/// Disables retries, since the next write includes this one's count.
fn no_retries() -> Builder {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(CALL_TIMEOUT)
        .operation_timeout(CALL_TIMEOUT)
        .build();
    Builder::new().retry_config(RetryConfig::disabled()).timeout_config(timeouts)
}

/// The stored item, if the write failed because its tally is as new or newer.
fn newer_item(error: &SdkError<UpdateItemError>) -> Option<&Item> {
    match error.as_service_error()? {
        UpdateItemError::ConditionalCheckFailedException(failed) => failed.item(),
        _ => None,
    }
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// Encodes a tally as a compact list of integers: count and version, then each bucket's first second and count.
/// Seconds are relative to the hour.
fn tally_to_attribute(tally: &Tally, hour: i64) -> AttributeValue {
    let mut numbers = vec![number(tally.count), number(tally.version)];
    for (start, count) in &tally.recent {
        numbers.extend([number(start - hour), number(count)]);
    }
    AttributeValue::L(numbers)
}

/// Parses the tallies in an item. Its other attributes are not lists.
fn tallies_from_item(item: &Item, hour: i64) -> HourlyTallies {
    let tallies = item.iter().map(|(name, value)| Some((name, tally_from_attribute(value, hour)?)));
    tallies.flatten().map(|(container, tally)| (container.clone(), tally)).collect()
}

/// Decodes a tally; `None` if the attribute is not one, or has buckets outside its hour.
fn tally_from_attribute(attribute: &AttributeValue, hour: i64) -> Option<Tally> {
    let mut numbers = Vec::new();
    for value in attribute.as_l().ok()? {
        numbers.push(value.as_n().ok()?.parse::<i64>().ok()?);
    }
    let ([count, version], buckets) = numbers.split_first_chunk()?;
    let mut recent = Vec::new();
    for bucket in buckets.chunks_exact(2) {
        let (start, requests) = (bucket[0], bucket[1]);
        if !(0..SECONDS_PER_HOUR).contains(&start) {
            return None;
        }
        recent.push((hour + start, u64::try_from(requests).ok()?));
    }
    let (count, version) = (u64::try_from(*count).ok()?, u64::try_from(*version).ok()?);
    Some(Tally { count, version, recent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_round_trips_and_other_attributes_are_ignored() {
        let hour = 1_795_273_200;
        let first = Tally { count: 300, version: 41, recent: vec![(hour, 7), (hour + 3595, 12)] };
        let second = Tally { count: 1, version: 1, recent: Vec::new() };
        let beyond_its_hour =
            Tally { count: 2, version: 2, recent: vec![(hour + SECONDS_PER_HOUR, 2)] };
        let item = Item::from([
            ("id".to_owned(), AttributeValue::S("abc#1795273200".to_owned())),
            ("expires_at".to_owned(), number(hour + TIME_TO_LIVE)),
            ("first".to_owned(), tally_to_attribute(&first, hour)),
            ("second".to_owned(), tally_to_attribute(&second, hour)),
            ("broken".to_owned(), AttributeValue::L(vec![AttributeValue::Bool(true)])),
            ("beyond".to_owned(), tally_to_attribute(&beyond_its_hour, hour)),
            ("empty".to_owned(), AttributeValue::L(Vec::new())),
        ]);
        let expected =
            HourlyTallies::from([("first".to_owned(), first), ("second".to_owned(), second)]);
        assert_eq!(tallies_from_item(&item, hour), expected);
    }
}
