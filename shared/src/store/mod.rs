//! The DynamoDB tables: one item a lookup, the snapshot in chunks, the keys.
//!
//! Knows nothing of HTTP. The tables themselves are defined in `template.yaml`.

mod api_keys;
mod items;
mod manifest;
mod quality;
mod snapshots;
mod usage;

use std::{collections::HashMap, env, time::Duration};

use aws_config::{BehaviorVersion, ConfigLoader, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_dynamodb::{
    Client,
    error::{BuildError, SdkError},
    types::{AttributeValue, ConsumedCapacity, ReturnConsumedCapacity},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::aws_sdk_dynamodb_1::{from_item, to_item};

use crate::{
    errors::with_causes,
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn, RecordKey, Version},
    telemetry,
};

pub use api_keys::KeyRecord;
pub use items::{BATCH, ItemKey, ItemWrite, LookupItem, LookupTable, StoredItem};
pub use manifest::{FileDates, Manifest, Revision, Snapshot, sha256};
pub use usage::{HourOfUsage, Tally};

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The names of the tables.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Carriers by `ocn`.
    pub carriers: String,
    /// Exchanges by `npa_nxx` = `415#555`, and area codes by `npa_nxx` = `415`.
    pub exchanges: String,
    /// The current manifest and the chunks of each snapshot, by `id`.
    pub dataset: String,
    /// API keys by `key_hash`.
    pub api_keys: String,
    /// Requests counted by quota and hour, by `id`.
    pub usage: String,
}

impl Tables {
    /// The names in `CARRIERS_TABLE`, `EXCHANGES_TABLE`, `DATASET_TABLE`, `API_KEYS_TABLE` and
    /// `USAGE_TABLE`, or the local names where they are not set.
    pub fn from_env() -> Self {
        let name = |variable, local: &str| env::var(variable).unwrap_or_else(|_| local.to_owned());
        Self {
            carriers: name("CARRIERS_TABLE", "carriers"),
            exchanges: name("EXCHANGES_TABLE", "exchanges"),
            dataset: name("DATASET_TABLE", "dataset"),
            api_keys: name("API_KEYS_TABLE", "api_keys"),
            usage: name("USAGE_TABLE", "usage"),
        }
    }
}

/// How long a call may take, all tries together.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// A client waits for the answer.
    Serving,
    /// A load or an operator's command: rather late than not at all.
    Loading,
}

impl Patience {
    /// How long reading a snapshot may take, with all that is tried again.
    fn snapshot_read(self) -> Duration {
        match self {
            Self::Serving => Duration::from_secs(8),
            Self::Loading => Duration::from_secs(60),
        }
    }

    fn loader(self) -> ConfigLoader {
        let (attempts, attempt, operation) = match self {
            // a lookup makes four calls at most: altogether they stay below the 10 s of a Lambda
            Self::Serving => (3, Duration::from_millis(700), Duration::from_secs(2)),
            Self::Loading => (4, Duration::from_secs(5), Duration::from_secs(15)),
        };
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(Duration::from_secs(1))
            .operation_attempt_timeout(attempt)
            .operation_timeout(operation);
        let retries = RetryConfig::standard()
            .with_max_attempts(attempts)
            .with_initial_backoff(Duration::from_millis(50));
        aws_config::defaults(BehaviorVersion::latest())
            .timeout_config(timeouts.build())
            .retry_config(retries)
    }
}

/// Whether `endpoint` is a local stand-in for DynamoDB: AWS itself never speaks plain `http`.
pub fn is_emulator(endpoint: &str) -> bool {
    endpoint.starts_with("http://")
}

/// What DynamoDB would not do, in words for the operator's log.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{operation} on table {table} failed: {detail}")]
    Call { operation: &'static str, table: String, detail: String },
    #[error("DynamoDB has not answered yet")]
    Unanswered,
    #[error("an item of table {table} is not as this version writes it: {detail}")]
    Item { table: String, detail: String },
    #[error("the snapshot {version} is damaged: {detail}")]
    Snapshot { version: Version, detail: String },
    #[error("the snapshot {version} could not be read within {limit:?}")]
    SnapshotTimeout { version: Version, limit: Duration },
    #[error("DynamoDB was too busy for {left} items; the next import writes them")]
    Busy { left: usize },
    #[error(
        "another import or rollback changed the data meanwhile; \
         see which version is current, and run this one again if it is still wanted"
    )]
    Overtaken,
}

impl StoreError {
    fn call<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: std::error::Error + 'static,
    {
        move |error| Self::Call { operation, table: table.to_owned(), detail: with_causes(&error) }
    }

    /// A request that the SDK cannot build is a defect of ours; it must not pass for none.
    fn unbuildable(operation: &'static str, table: &str) -> impl FnOnce(BuildError) -> Self {
        move |error| Self::Call { operation, table: table.to_owned(), detail: error.to_string() }
    }
}

/// The DynamoDB tables of one deployment.
#[derive(Debug, Clone)]
pub struct Store {
    client: Client,
    tables: Tables,
    timeouts: Patience,
}

impl Store {
    /// Connects as the environment says: region, credentials, endpoint and table names.
    pub async fn from_env(patience: Patience) -> Self {
        Self::connect(patience, patience.loader(), Tables::from_env()).await
    }

    /// Connects to `endpoint`. A plain `http` one is an emulator, to which any region and
    /// credentials do; for any other they come from the environment.
    pub async fn at(endpoint: &str, patience: Patience) -> Self {
        let loader = patience.loader().endpoint_url(endpoint);
        let loader = match is_emulator(endpoint) {
            true => loader.region("us-east-1").test_credentials(),
            false => loader,
        };
        Self::connect(patience, loader, Tables::from_env()).await
    }

    /// Connects as the environment says, to the tables of these names.
    pub async fn with_tables(tables: Tables, patience: Patience) -> Self {
        Self::connect(patience, patience.loader(), tables).await
    }

    async fn connect(timeouts: Patience, loader: ConfigLoader, tables: Tables) -> Self {
        Self { client: Client::new(&loader.load().await), tables, timeouts }
    }

    /// The client and table names, for what the API itself never does: creating the tables.
    pub fn parts(&self) -> (&Client, &Tables) {
        (&self.client, &self.tables)
    }

    /// The item of the carrier with this OCN: one GetItem.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer, or the item cannot be read.
    pub async fn carrier(&self, ocn: Ocn) -> Result<Option<LookupItem<Carrier>>, StoreError> {
        self.lookup_item(RecordKey::Carrier(ocn)).await
    }

    /// The item of the exchange with this NPA-NXX: one GetItem.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer, or the item cannot be read.
    pub async fn exchange(
        &self,
        npa_nxx: NpaNxx,
    ) -> Result<Option<LookupItem<Exchange>>, StoreError> {
        self.lookup_item(RecordKey::Exchange(npa_nxx)).await
    }

    /// The item of the area code: one GetItem.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer, or the item cannot be read.
    pub async fn area_code(&self, npa: Npa) -> Result<Option<LookupItem<AreaCode>>, StoreError> {
        self.lookup_item(RecordKey::AreaCode(npa)).await
    }

    /// An eventually consistent read, for half the price: one that misses the last write finds an
    /// item that names another version than the dataset does, and so does not count.
    async fn lookup_item<R: DeserializeOwned>(
        &self,
        key: RecordKey,
    ) -> Result<Option<LookupItem<R>>, StoreError> {
        let key = ItemKey::from(key);
        let table = key.table_name(&self.tables);
        let (name, value) = key.attribute();
        let get = self.client.get_item().table_name(table).key(name, value);
        let answer = get.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
        let answer = answer.map_err(StoreError::call("GetItem", table))?;
        note_capacity(answer.consumed_capacity());
        answer.item.map(|item| read(table, item)).transpose()
    }

    /// An item as it was last written.
    async fn get<T: DeserializeOwned>(
        &self,
        table: &str,
        key: &str,
        value: String,
    ) -> Result<Option<T>, StoreError> {
        let get = self.client.get_item().table_name(table).key(key, AttributeValue::S(value));
        let get = get.return_consumed_capacity(ReturnConsumedCapacity::Total);
        let answer = get.consistent_read(true).send().await;
        let answer = answer.map_err(StoreError::call("GetItem", table))?;
        note_capacity(answer.consumed_capacity());
        answer.item.map(|item| read(table, item)).transpose()
    }
}

/// Notes what a read of the request cost, in capacity units.
fn note_capacity(capacity: Option<&ConsumedCapacity>) {
    let units = capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    telemetry::note(|facts| facts.consumed_capacity += units);
}

fn read<T: DeserializeOwned>(table: &str, item: Item) -> Result<T, StoreError> {
    from_item(item)
        .map_err(|error| StoreError::Item { table: table.to_owned(), detail: error.to_string() })
}

/// A record as an item; what a record leaves open, the item leaves out.
fn item(table: &str, record: &impl Serialize) -> Result<Item, StoreError> {
    let mut item: Item = to_item(record)
        .map_err(|error| StoreError::Item { table: table.to_owned(), detail: error.to_string() })?;
    item.retain(|_, value| !value.is_null());
    Ok(item)
}
