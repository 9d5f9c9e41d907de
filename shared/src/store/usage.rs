//! Counters of requests by key and window.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};

use super::{Store, StoreError};

impl Store {
    /// Adds to a counter and gives what it is then: one UpdateItem, exact under concurrency.
    /// DynamoDB deletes the counter after `ends` (seconds since 1970).
    ///
    /// # Errors
    /// Where DynamoDB refuses it; whether it was added is not known then.
    pub async fn count(&self, counter: &str, count: u64, ends: i64) -> Result<u64, StoreError> {
        let table = &self.tables.usage;
        let number = |value: String| AttributeValue::N(value);
        let update = self
            .client
            .update_item()
            .table_name(table)
            .key("id", AttributeValue::S(counter.to_owned()))
            .update_expression("ADD used :count SET expires_at = :ends")
            .expression_attribute_values(":count", number(count.to_string()))
            .expression_attribute_values(":ends", number(ends.to_string()))
            .return_values(ReturnValue::UpdatedNew);
        let answer = update.send().await.map_err(StoreError::call("UpdateItem", table))?;
        let total = answer.attributes.as_ref().and_then(|counted| counted.get("used"));
        let total = total.and_then(|used| used.as_n().ok()).and_then(|used| used.parse().ok());
        total.ok_or_else(|| StoreError::Item {
            table: table.clone(),
            detail: "the counter has no number".to_owned(),
        })
    }
}
