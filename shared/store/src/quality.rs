//! How complete each version of the data is. It is stored beside the snapshot, so that versions can
//! be compared later.

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Revision, Store, StoreError,
    error::Cause,
    item_check::{self, Item},
    snapshots::REPLACES,
};
use numbering::records::Version;

/// The level of zstd. It is low because the item is small and hardly ever read.
const LEVEL: i32 = 3;

impl Store {
    /// Stores the quality of `version` as compressed JSON in one item, which stays far below
    /// DynamoDB's 400 KB even with every area code of the plan. Its id begins with the version,
    /// like the ids of the chunks, so that [`Store::sweep`] deletes it together with them.
    pub async fn put_quality(
        &self,
        version: &Version,
        quality: &impl Serialize,
        replaces: &Revision,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let data = compressed(quality).map_err(StoreError::item(table))?;
        let mut item = Item::from([
            ("id".to_owned(), AttributeValue::S(quality_id(version))),
            (REPLACES.to_owned(), AttributeValue::S(replaces.to_string())),
            ("data".to_owned(), AttributeValue::B(Blob::new(data))),
        ]);
        item_check::seal(&mut item);
        let request = self.client.put_item().table_name(table).set_item(Some(item));
        request.send().await.map_err(StoreError::call("PutItem", table))?;
        Ok(())
    }

    /// The quality of `version`; `None` if none was stored.
    pub async fn quality<T: DeserializeOwned>(
        &self,
        version: &Version,
    ) -> Result<Option<T>, StoreError> {
        let table = &self.tables.dataset;
        let id = AttributeValue::S(quality_id(version));
        let get = self.client.get_item().table_name(table).key("id", id);
        let answer = get.send().await.map_err(StoreError::call("GetItem", table))?;
        let Some(item) = answer.item else { return Ok(None) };
        decompressed(&item).map(Some).map_err(StoreError::item(table))
    }
}

fn quality_id(version: &Version) -> String {
    format!("{version}#quality")
}

fn compressed(quality: &impl Serialize) -> std::io::Result<Vec<u8>> {
    zstd::encode_all(serde_json::to_vec(quality)?.as_slice(), LEVEL)
}

fn decompressed<T: DeserializeOwned>(item: &Item) -> Result<T, Cause> {
    item_check::verify(item)?;
    let data = item.get("data").and_then(|data| data.as_b().ok()).ok_or("it has no data")?;
    let json = zstd::decode_all(data.as_ref())?;
    Ok(serde_json::from_slice(&json)?)
}
