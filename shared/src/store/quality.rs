//! How complete each version of the data is, kept beside its snapshot for whoever looks back.

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use serde::{Serialize, de::DeserializeOwned};

use super::{Item, Revision, Store, StoreError, snapshots::REPLACES};
use crate::records::Version;

/// zstd's level: the item is small, written once and hardly ever read.
const LEVEL: i32 = 3;

impl Store {
    /// Keeps the quality of `version` as compressed JSON in one item, far below DynamoDB's 400 KB even
    /// with every area code of the plan. Its id begins with the version, as those of the chunks do,
    /// so that it is swept with them.
    ///
    /// # Errors
    /// Returns an error if DynamoDB refuses the item.
    pub async fn put_quality(
        &self,
        version: &Version,
        quality: &impl Serialize,
        replaces: &Revision,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let data = compressed(quality).map_err(|error| StoreError::Item {
            table: table.clone(),
            detail: error.to_string(),
        })?;
        let put = self.client.put_item().table_name(table);
        let put = put.item("id", AttributeValue::S(quality_id(version)));
        let put = put.item(REPLACES, AttributeValue::S(replaces.to_string()));
        let put = put.item("data", AttributeValue::B(Blob::new(data)));
        put.send().await.map_err(StoreError::call("PutItem", table))?;
        Ok(())
    }

    /// The quality of `version`; `None` where none was kept with it.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer, or the item cannot be read.
    pub async fn quality<T: DeserializeOwned>(
        &self,
        version: &Version,
    ) -> Result<Option<T>, StoreError> {
        let table = &self.tables.dataset;
        let id = AttributeValue::S(quality_id(version));
        let get = self.client.get_item().table_name(table).key("id", id);
        let answer = get.send().await.map_err(StoreError::call("GetItem", table))?;
        let Some(item) = answer.item else { return Ok(None) };
        let quality = decompressed(&item)
            .map_err(|detail| StoreError::Item { table: table.clone(), detail })?;
        Ok(Some(quality))
    }
}

fn quality_id(version: &Version) -> String {
    format!("{version}#quality")
}

fn compressed(quality: &impl Serialize) -> std::io::Result<Vec<u8>> {
    zstd::encode_all(serde_json::to_vec(quality)?.as_slice(), LEVEL)
}

fn decompressed<T: DeserializeOwned>(item: &Item) -> Result<T, String> {
    let data = item.get("data").and_then(|data| data.as_b().ok()).ok_or("it has no data")?;
    let json = zstd::decode_all(data.as_ref()).map_err(|error| error.to_string())?;
    serde_json::from_slice(&json).map_err(|error| error.to_string())
}
