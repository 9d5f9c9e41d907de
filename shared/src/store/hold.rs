//! The hold on the data that an import takes: one import at a time, and what a killed one began.

use aws_sdk_dynamodb::{
    error::BuildError,
    types::{AttributeValue, ConditionCheck},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError, Written, item};

/// Its key in the table of datasets.
const HOLD: &str = "hold";

/// Who may write, until when, and what was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Of the import that has it.
    pub token: String,
    /// When it ends unless it is renewed: a killed import does not renew it.
    pub until: Timestamp,
    /// Snapshots that may be left over: of this import, of killed ones, and those to be dropped.
    pub snapshots: Vec<Begun>,
}

/// A snapshot that was begun, by the keys of its chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    pub version: String,
    pub chunks: u32,
    pub sha256: String,
    /// Whether items of it may have been written.
    pub items: bool,
}

impl Hold {
    /// The condition that it has not been taken by another.
    pub(super) fn is_ours(&self, table: &str) -> Result<ConditionCheck, BuildError> {
        ConditionCheck::builder()
            .table_name(table)
            .key("id", AttributeValue::S(HOLD.to_owned()))
            .condition_expression("#token = :token")
            .expression_attribute_names("#token", "token")
            .expression_attribute_values(":token", AttributeValue::S(self.token.clone()))
            .build()
    }
}

impl Store {
    /// The hold, whoever has it and whether or not it has ended.
    ///
    /// # Errors
    /// Where DynamoDB does not answer, or the item cannot be read.
    pub async fn hold(&self) -> Result<Option<Hold>, StoreError> {
        self.get(&self.tables.dataset, "id", HOLD.to_owned()).await
    }

    /// Writes `hold` in the place of `seen`: to take it, to renew it, to note what was begun.
    ///
    /// # Errors
    /// [`StoreError::Held`] where it is no longer as it was seen; nothing has changed then.
    pub async fn put_hold(&self, hold: &Hold, seen: Option<&Hold>) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let mut attributes = item(table, hold)?;
        attributes.insert("id".to_owned(), AttributeValue::S(HOLD.to_owned()));
        let put = self.client.put_item().table_name(table).set_item(Some(attributes));
        let put = match seen {
            None => put.condition_expression("attribute_not_exists(id)"),
            Some(Hold { token, until, .. }) => put
                .condition_expression("#token = :token AND #until = :until")
                .expression_attribute_names("#token", "token")
                .expression_attribute_names("#until", "until")
                .expression_attribute_values(":token", AttributeValue::S(token.clone()))
                .expression_attribute_values(":until", AttributeValue::S(until.to_string())),
        };
        put.send().await.written("PutItem", table)?.then_some(()).ok_or(StoreError::Held)
    }

    /// Gives `hold` up, with nothing left over.
    ///
    /// # Errors
    /// [`StoreError::Held`] where another import has taken it.
    pub async fn delete_hold(&self, hold: &Hold) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let delete = self
            .client
            .delete_item()
            .table_name(table)
            .key("id", AttributeValue::S(HOLD.to_owned()))
            .condition_expression("#token = :token")
            .expression_attribute_names("#token", "token")
            .expression_attribute_values(":token", AttributeValue::S(hold.token.clone()));
        delete.send().await.written("DeleteItem", table)?.then_some(()).ok_or(StoreError::Held)
    }
}
