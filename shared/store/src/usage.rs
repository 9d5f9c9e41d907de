//! Requests counted by quota and hour: an item for each, with an attribute for each container.
//!
//! A container writes its own count whole and nobody else's, so a write that arrives twice or late
//! changes nothing. The sum over the containers is everybody's count.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::SdkError,
    operation::update_item::UpdateItemError,
    types::{AttributeValue, KeysAndAttributes, ReturnValue, ReturnValuesOnConditionCheckFailure},
};

use crate::{Store, StoreError, client::Item};

/// How long a call may take. It has one try: what was not written goes with the next write.
const LONGEST_CALL: Duration = Duration::from_millis(1500);
const SECONDS_OF_AN_HOUR: i64 = 60 * 60;
/// How long after its hour an item is kept: for the window of a day, and an hour to spare.
const KEPT_FOR: i64 = 26 * SECONDS_OF_AN_HOUR;

/// What one container counted of a quota in one hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All requests of the hour so far. It only grows, so the greater of two tallies is the newer.
    pub count: u64,
    /// Those of the last minute or so, by the second at which their bucket begins.
    pub recent: Vec<(i64, u64)>,
}

/// The tallies of one hour by container.
pub type HourOfUsage = HashMap<String, Tally>;

impl Store {
    /// Replaces the tally of `container` with a newer one, and gives everybody's. A tally that is
    /// not newer than the one in the table changes nothing.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer; whether the tally was written is not known then.
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
            .condition_expression("attribute_not_exists(#container) OR #container[0] < :count")
            .expression_attribute_names("#container", container)
            .expression_attribute_values(":tally", written(tally, hour))
            .expression_attribute_values(":count", number(tally.count))
            .expression_attribute_values(":ends", number(hour + KEPT_FOR))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let answer = update.customize().config_override(once()).send().await;
        let item = match answer {
            Ok(answer) => answer.attributes,
            Err(error) => match newer(&error) {
                Some(item) => Some(item.clone()),
                None => return Err(StoreError::call("UpdateItem", table)(error)),
            },
        };
        Ok(item.map(|item| read(&item, hour)).unwrap_or_default())
    }

    /// Everybody's tallies of these hours, at most 100; an hour of which nothing is known is left out.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer for all of them.
    pub async fn usage(
        &self,
        quota_id: &str,
        hours: &[i64],
    ) -> Result<HashMap<i64, HourOfUsage>, StoreError> {
        let table = &self.tables.usage;
        let hour_of: HashMap<String, i64> =
            hours.iter().map(|hour| (item_id(quota_id, *hour), *hour)).collect();
        let mut request = KeysAndAttributes::builder().set_keys(Some(Vec::new()));
        for id in hour_of.keys() {
            request = request.keys(Item::from([("id".to_owned(), AttributeValue::S(id.clone()))]));
        }
        let keys = request.build().map_err(StoreError::unbuildable("BatchGetItem", table))?;
        let get = self.client.batch_get_item().request_items(table, keys);
        let answer = get.customize().config_override(once()).send().await;
        let answer = answer.map_err(StoreError::call("BatchGetItem", table))?;
        if answer.unprocessed_keys().is_some_and(|left| !left.is_empty()) {
            let (operation, table) = ("BatchGetItem", table.clone());
            return Err(StoreError::Call {
                operation,
                table,
                source: "it left keys unprocessed".into(),
            });
        }
        let items = answer.responses.unwrap_or_default().remove(table).unwrap_or_default();
        let hour_of_item = |item: &Item| hour_of.get(item.get("id")?.as_s().ok()?).copied();
        Ok(items
            .iter()
            .filter_map(|item| hour_of_item(item).map(|hour| (hour, read(item, hour))))
            .collect())
    }
}

fn item_id(quota_id: &str, hour: i64) -> String {
    format!("{quota_id}#{hour}")
}

/// The SDK would otherwise repeat a call while the process is frozen or the table is slow.
fn once() -> Builder {
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(LONGEST_CALL)
        .operation_timeout(LONGEST_CALL)
        .build();
    Builder::new().retry_config(RetryConfig::disabled()).timeout_config(timeouts)
}

/// The item as it stands, if the write was refused because the table has this tally or a newer one.
fn newer(error: &SdkError<UpdateItemError>) -> Option<&Item> {
    match error.as_service_error()? {
        UpdateItemError::ConditionalCheckFailedException(refused) => refused.item(),
        _ => None,
    }
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

/// A tally as a list of numbers, which takes the least room: the count, then for each bucket the
/// second of the hour at which it begins and its requests.
fn written(tally: &Tally, hour: i64) -> AttributeValue {
    let mut numbers = vec![number(tally.count)];
    for (start, count) in &tally.recent {
        numbers.extend([number(start - hour), number(count)]);
    }
    AttributeValue::L(numbers)
}

/// The tallies of an item; its other attributes are no lists.
fn read(item: &Item, hour: i64) -> HourOfUsage {
    let mut tallies = HourOfUsage::new();
    for (container, value) in item {
        if let Some(tally) = tally(value, hour) {
            tallies.insert(container.clone(), tally);
        }
    }
    tallies
}

fn tally(value: &AttributeValue, hour: i64) -> Option<Tally> {
    let numbers: Option<Vec<i64>> =
        value.as_l().ok()?.iter().map(|value| value.as_n().ok()?.parse().ok()).collect();
    let numbers = numbers?;
    let (count, buckets) = numbers.split_first()?;
    let mut recent = Vec::new();
    for bucket in buckets.chunks_exact(2) {
        recent.push((hour + bucket[0], u64::try_from(bucket[1]).ok()?));
    }
    Some(Tally { count: u64::try_from(*count).ok()?, recent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reads_back_and_what_is_no_tally_is_passed_over() {
        let hour = 1_795_273_200;
        let first = Tally { count: 300, recent: vec![(hour, 7), (hour + 3595, 12)] };
        let item = Item::from([
            ("id".to_owned(), AttributeValue::S("abc#1795273200".to_owned())),
            ("expires_at".to_owned(), number(hour + KEPT_FOR)),
            ("first".to_owned(), written(&first, hour)),
            ("second".to_owned(), written(&Tally { count: 1, recent: Vec::new() }, hour)),
            ("broken".to_owned(), AttributeValue::L(vec![AttributeValue::Bool(true)])),
            ("empty".to_owned(), AttributeValue::L(Vec::new())),
        ]);
        let tallies = read(&item, hour);
        assert_eq!(tallies.len(), 2, "{tallies:?}");
        assert_eq!(tallies["first"], first);
        assert_eq!(tallies["second"].count, 1);
    }
}
