//! Request counts: one item per quota and hour, with one attribute per container.
//!
//! A container writes its own whole count and no other, so repeated or late writes change nothing. The number
//! of requests is the sum over all containers.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::SdkError,
    operation::update_item::UpdateItemError,
    types::{AttributeValue, ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use backon::ExponentialBuilder;

use crate::{Store, StoreError, batch_get::BatchGet, item_check::Item};

/// The timeout of a call, which requests may be waiting for. It is not retried, since the next write includes
/// its count.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
const SECONDS_PER_HOUR: i64 = 60 * 60;
/// Lifetime of an item after the start of its hour, in seconds: until it is outside every daily window,
/// plus one hour.
const TIME_TO_LIVE: i64 = 26 * SECONDS_PER_HOUR;

/// A container's request count for a quota in one hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The hour's requests so far.
    pub count: u64,
    /// The tally with the greater version is newer. The count may fall, since requests are counted before they
    /// are admitted.
    pub version: u64,
    /// The requests of about the last minute, by the second at which their bucket starts.
    pub recent: Vec<(i64, u64)>,
}

/// An hour's tallies, by container.
pub type HourOfUsage = HashMap<String, Tally>;

impl Store {
    /// Replaces `container`'s tally with a newer one, and returns all containers' tallies. Does nothing if the
    /// stored tally is at least as new.
    pub async fn put_tally(
        &self,
        quota_id: &str,
        hour: i64,
        container: &str,
        tally: &Tally,
    ) -> Result<HourOfUsage, StoreError> {
        let table = &self.tables.usage;
        let update = self
            .client
            .update_item()
            .table_name(table)
            .key("id", AttributeValue::S(item_id(quota_id, hour)))
            .update_expression("SET #container = :tally, expires_at = :ends")
            .condition_expression("attribute_not_exists(#container) OR #container[1] < :version")
            .expression_attribute_names("#container", container)
            .expression_attribute_values(":tally", attribute_of_tally(tally, hour))
            .expression_attribute_values(":version", number(tally.version))
            .expression_attribute_values(":ends", number(hour + TIME_TO_LIVE))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let item = match update.customize().config_override(without_retries()).send().await {
            Ok(answer) => answer.attributes,
            Err(error) => match item_with_newer_tally(&error) {
                Some(item) => Some(item.clone()),
                None => return Err(StoreError::call("UpdateItem", table)(error)),
            },
        };
        Ok(item.map(|item| tallies_of_item(&item, hour)).unwrap_or_default())
    }

    /// Reads all containers' tallies for up to 100 hours, strongly consistently. Hours without requests are
    /// omitted.
    pub async fn usage(
        &self,
        quota_id: &str,
        hours: &[i64],
    ) -> Result<HashMap<i64, HourOfUsage>, StoreError> {
        let table = &self.tables.usage;
        let hour_of: HashMap<String, i64> =
            hours.iter().map(|hour| (item_id(quota_id, *hour), *hour)).collect();
        let batch = BatchGet {
            table,
            key: "id",
            is_consistent: true,
            delays: ExponentialBuilder::new().with_max_times(0),
            config: Some(without_retries()),
        };
        let items = self.batch_get(batch, hour_of.keys().cloned()).await?;
        let hour_of_item = |item: &Item| hour_of.get(item.get("id")?.as_s().ok()?).copied();
        Ok(items
            .iter()
            .filter_map(|item| hour_of_item(item).map(|hour| (hour, tallies_of_item(item, hour))))
            .collect())
    }
}

fn item_id(quota_id: &str, hour: i64) -> String {
    format!("{quota_id}#{hour}")
}

/// Disables retries. Otherwise the SDK would repeat calls that failed because the process was frozen or the
/// table is slow.
fn without_retries() -> Builder {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(CALL_TIMEOUT)
        .operation_timeout(CALL_TIMEOUT)
        .build();
    Builder::new().retry_config(RetryConfig::disabled()).timeout_config(timeouts)
}

/// The stored item, if the write was refused because the item has this tally or a newer one.
fn item_with_newer_tally(error: &SdkError<UpdateItemError>) -> Option<&Item> {
    match error.as_service_error()? {
        UpdateItemError::ConditionalCheckFailedException(refused) => refused.item(),
        _ => None,
    }
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// A tally as a compact list of numbers: count and version, then for each bucket its starting second in the
/// hour, and its requests.
fn attribute_of_tally(tally: &Tally, hour: i64) -> AttributeValue {
    let mut numbers = vec![number(tally.count), number(tally.version)];
    for (start, count) in &tally.recent {
        numbers.extend([number(start - hour), number(count)]);
    }
    AttributeValue::L(numbers)
}

/// The tallies in an item. Its other attributes are not lists.
fn tallies_of_item(item: &Item, hour: i64) -> HourOfUsage {
    let tallies = item.iter().map(|(name, value)| Some((name, tally_of_attribute(value, hour)?)));
    tallies.flatten().map(|(container, tally)| (container.clone(), tally)).collect()
}

/// Parses a tally from a list of numbers; `None` if it is not one, or has buckets outside its hour.
fn tally_of_attribute(attribute: &AttributeValue, hour: i64) -> Option<Tally> {
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
            ("first".to_owned(), attribute_of_tally(&first, hour)),
            ("second".to_owned(), attribute_of_tally(&second, hour)),
            ("broken".to_owned(), AttributeValue::L(vec![AttributeValue::Bool(true)])),
            ("beyond".to_owned(), attribute_of_tally(&beyond_its_hour, hour)),
            ("empty".to_owned(), AttributeValue::L(Vec::new())),
        ]);
        let expected =
            HourOfUsage::from([("first".to_owned(), first), ("second".to_owned(), second)]);
        assert_eq!(tallies_of_item(&item, hour), expected);
    }
}
