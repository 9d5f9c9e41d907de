//! A client for a deployment's tables, and the certificates it trusts.

use std::{env, sync::Arc};

use aws_sdk_dynamodb::{
    Client, Config,
    config::{
        BehaviorVersion, Builder, Credentials, Region, SharedCredentialsProvider, SharedHttpClient,
    },
    operation::put_item::PutItemError,
    types::{AttributeValue, ReturnConsumedCapacity},
};
use aws_smithy_http_client::{
    Builder as HttpClientBuilder, Connector,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::aws_sdk_dynamodb_1::{from_item, to_item};

use crate::{
    StoreError, Table, Tables, TimeoutProfile,
    call_spans::CallSpans,
    checksum::{self, Item},
    metering,
    reachability::Reachability,
};

/// The environment variables that override the AWS endpoint, as in the SDKs and the AWS CLI.
const ENDPOINT_VARIABLES: [&str; 2] = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"];

/// The environment variables that set the region, as in the SDKs and the AWS CLI.
const REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// The region for databases that do not use regions.
const DEFAULT_REGION: &str = "us-east-1";

/// The maximum number of items in a BatchGetItem call.
pub const READS_PER_BATCH: usize = 100;

/// Returns `true` for an `http://` endpoint. Only emulators and compatible databases use one, never AWS.
pub fn is_plain_http(endpoint: &str) -> bool {
    endpoint.starts_with("http://")
}

/// A deployment's DynamoDB tables. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) tables: Arc<Tables>,
    pub(crate) timeouts: TimeoutProfile,
    pub(crate) reachability: Arc<Reachability>,
}

impl Store {
    /// Connects as a Lambda function, with region, credentials, tables and an optional endpoint from the
    /// environment. For profiles and other credential sources, which would add a tenth to each function's size,
    /// use [`Store::connect`].
    pub fn from_env(timeouts: TimeoutProfile) -> Self {
        let endpoint = ENDPOINT_VARIABLES.into_iter().find_map(nonempty_env_var);
        let region = nonempty_env_var("AWS_REGION");
        let roots = TrustedRoots::new(
            endpoint.as_deref(),
            region.as_deref(),
            TRUST_VARIABLES.into_iter().find_map(nonempty_env_var).is_some(),
        );
        let mut config =
            Config::builder().region(region.map(Region::new)).http_client(https_client(roots));
        config.set_endpoint_url(endpoint);
        config.set_credentials_provider(credentials_from_env().map(SharedCredentialsProvider::new));
        Self::connect(config, Tables::from_env(), timeouts)
    }

    /// Connects to the emulator at `endpoint`, which accepts any region and any credentials.
    pub fn connect_to_emulator(endpoint: &str, timeouts: TimeoutProfile) -> Self {
        Self::connect_to_embedded(endpoint, "local", timeouts)
    }

    /// Connects to a port that nothing listens on, so every call fails immediately. For tests without a database.
    pub fn unreachable() -> Self {
        Self::connect_to_emulator("http://127.0.0.1:1", TimeoutProfile::Request)
    }

    /// Connects to the embedded database at `endpoint`, which requires this access key id.
    pub fn connect_to_embedded(
        endpoint: &str,
        access_key_id: &str,
        timeouts: TimeoutProfile,
    ) -> Self {
        let credentials = credentials_with_id(access_key_id);
        Self::connect_plain_http(endpoint, timeouts, DEFAULT_REGION.to_owned(), credentials)
    }

    /// Connects to a DynamoDB-compatible database at `endpoint`, with region and credentials from the
    /// environment. If they are unset, uses placeholders, which emulators accept.
    pub fn connect_to_compatible_database(endpoint: &str, timeouts: TimeoutProfile) -> Self {
        let region = REGION_VARIABLES.into_iter().find_map(nonempty_env_var);
        Self::connect_plain_http(
            endpoint,
            timeouts,
            region.unwrap_or_else(|| DEFAULT_REGION.to_owned()),
            credentials_from_env().unwrap_or_else(|| credentials_with_id("local")),
        )
    }

    fn connect_plain_http(
        endpoint: &str,
        timeouts: TimeoutProfile,
        region: String,
        credentials: Credentials,
    ) -> Self {
        let config = Config::builder()
            .region(Region::new(region))
            .http_client(https_client(TrustedRoots::Amazon))
            .credentials_provider(credentials)
            .endpoint_url(endpoint);
        Self::connect(config, Tables::from_env(), timeouts)
    }

    pub fn connect(config: Builder, tables: Tables, timeouts: TimeoutProfile) -> Self {
        let config = config.behavior_version(BehaviorVersion::latest()).interceptor(CallSpans);
        let config = timeouts.apply(config).build();
        let (client, tables) = (Client::from_conf(config), Arc::new(tables));
        Self { client, tables, timeouts, reachability: Arc::default() }
    }

    /// The client and the table names, for operator-only tasks such as creating tables.
    pub fn parts(&self) -> (&Client, &Tables) {
        (&self.client, &self.tables)
    }

    /// Reads the item with this partition key.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        table: Table,
        value: String,
        is_consistent: bool,
    ) -> Result<Option<T>, StoreError> {
        let (key, value) = (table.key_attribute(), AttributeValue::S(value));
        let table = self.tables.name(table);
        let request = self
            .client
            .get_item()
            .table_name(table)
            .key(key, value.clone())
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .consistent_read(is_consistent);
        let output = request.send().await.map_err(StoreError::call("GetItem", table))?;
        metering::add_capacity(output.consumed_capacity());
        let Some(item) = output.item else { return Ok(None) };
        if item.get(key) != Some(&value) {
            return Err(StoreError::item(table)("its key differs from the requested key"));
        }
        record_from_item(table, item).map(Some)
    }

    pub(crate) async fn put(&self, table: Table, item: Item) -> Result<(), StoreError> {
        let table = self.tables.name(table);
        let put = self.client.put_item().table_name(table).set_item(Some(item));
        put.send().await.map(drop).map_err(StoreError::call("PutItem", table))
    }

    /// Deletes the item with this partition key, if any.
    pub(crate) async fn delete(&self, table: Table, value: &str) -> Result<(), StoreError> {
        let (key, value) = (table.key_attribute(), AttributeValue::S(value.to_owned()));
        let table = self.tables.name(table);
        let delete = self.client.delete_item().table_name(table).key(key, value);
        delete.send().await.map(drop).map_err(StoreError::call("DeleteItem", table))
    }

    /// Replaces the item with the same key if its attribute still has this value, or is missing if `None`.
    /// Returns `false` otherwise.
    pub(crate) async fn replace_if_unchanged(
        &self,
        table: Table,
        item: Item,
        attribute: &str,
        expected: Option<AttributeValue>,
    ) -> Result<bool, StoreError> {
        let table = self.tables.name(table);
        let put = self.client.put_item().table_name(table).set_item(Some(item));
        let put = put.expression_attribute_names("#attribute", attribute);
        let put = match expected {
            None => put.condition_expression("attribute_not_exists(#attribute)"),
            Some(expected) => put
                .condition_expression("#attribute = :expected")
                .expression_attribute_values(":expected", expected),
        };
        let Err(error) = put.send().await else { return Ok(true) };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(_)) => Ok(false),
            _ => Err(StoreError::call("PutItem", table)(error)),
        }
    }

    /// Calls `inspect` with each item in a table. The scan is strongly consistent.
    pub(crate) async fn scan(
        &self,
        table: Table,
        mut inspect: impl FnMut(Item) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let table = self.tables.name(table);
        let scan = self.client.scan().table_name(table).consistent_read(true);
        let mut items = scan.into_paginator().items().send();
        while let Some(item) = items.next().await {
            inspect(item.map_err(StoreError::call("Scan", table))?)?;
        }
        Ok(())
    }
}

/// The value of an environment variable, if it is set and not empty.
fn nonempty_env_var(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Credentials for a database that does not check signatures.
fn credentials_with_id(access_key_id: &str) -> Credentials {
    Credentials::new(access_key_id, "unused", None, None, "emulator")
}

/// The credentials that Lambda sets in the environment.
pub fn credentials_from_env() -> Option<Credentials> {
    Some(Credentials::new(
        nonempty_env_var("AWS_ACCESS_KEY_ID")?,
        nonempty_env_var("AWS_SECRET_ACCESS_KEY")?,
        nonempty_env_var("AWS_SESSION_TOKEN"),
        None,
        "Environment",
    ))
}

pub(crate) fn record_from_item<T: DeserializeOwned>(
    table: &str,
    item: Item,
) -> Result<T, StoreError> {
    checksum::verify(&item).map_err(StoreError::item(table))?;
    from_item(item).map_err(StoreError::item(table))
}

/// Serializes a record as an item for `table`, with its checksum. Adds `key` if the record does not contain
/// it. Leaves out fields that are `None`.
pub(crate) fn item_from_record(
    table: &str,
    key: Option<(&str, AttributeValue)>,
    record: &impl Serialize,
) -> Result<Item, StoreError> {
    let mut item: Item = to_item(record).map_err(StoreError::item(table))?;
    item.retain(|_, value| !value.is_null());
    item.extend(key.map(|(name, value)| (name.to_owned(), value)));
    checksum::seal(&mut item);
    Ok(item)
}

/// The Amazon Trust Services roots, which sign AWS endpoints outside China.
const AMAZON_ROOTS: &str = include_str!("amazon_roots.pem");
/// OpenSSL's environment variables for trusted certificates.
const TRUST_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The certificates that a client trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustedRoots {
    /// The five Amazon Trust Services roots. Loading them is 20 times as fast as loading all system roots, which
    /// would take up half of a function's startup (docs/decisions/0012-cold-starts.md).
    Amazon,
    /// The system's roots, for endpoints that may not belong to AWS.
    System,
}

impl TrustedRoots {
    /// Chooses the roots for a function: Amazon's, unless the endpoint, the region or certificates from the
    /// environment require others. Emulators do not use TLS.
    fn new(endpoint: Option<&str>, region: Option<&str>, has_own_roots: bool) -> Self {
        let is_in_china = region.is_some_and(|region| region.starts_with("cn-"));
        match endpoint {
            Some(endpoint) if is_plain_http(endpoint) => Self::Amazon,
            None if !has_own_roots && !is_in_china => Self::Amazon,
            _ => Self::System,
        }
    }
}

/// Creates a client that trusts `roots` and uses `ring` for TLS.
pub fn https_client(roots: TrustedRoots) -> SharedHttpClient {
    HttpClientBuilder::new().tls_provider(TLS).tls_context(tls_context(roots)).build_https()
}

/// Creates the same client for requests without an SDK.
pub fn https_connector(roots: TrustedRoots) -> Connector {
    Connector::builder().tls_provider(TLS).tls_context(tls_context(roots)).build()
}

const TLS: Provider = Provider::Rustls(CryptoMode::Ring);

fn tls_context(roots: TrustedRoots) -> TlsContext {
    let trust_store = match roots {
        TrustedRoots::Amazon => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
        TrustedRoots::System => TrustStore::default(),
    };
    let context = TlsContext::builder().with_trust_store(trust_store).build();
    context.expect("the TLS context builder accepts any trust store")
}

#[cfg(test)]
mod tests {
    use rustls::{
        RootCertStore,
        pki_types::{CertificateDer, pem::PemObject},
    };

    use super::*;

    #[test]
    fn tls_accepts_the_five_amazon_roots() {
        let certificates = CertificateDer::pem_slice_iter(AMAZON_ROOTS.as_bytes());
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate.unwrap()).unwrap();
        }
        assert_eq!(roots.len(), 5);
    }

    #[test]
    fn system_roots_are_used_where_amazon_roots_may_not_apply() {
        let (emulator, other) =
            (Some("http://127.0.0.1:8000"), Some("https://dynamodb.example.com"));
        for (endpoint, region, has_own_roots, expected) in [
            (None, "us-east-2", false, TrustedRoots::Amazon),
            (None, "us-east-2", true, TrustedRoots::System),
            (None, "cn-north-1", false, TrustedRoots::System),
            (other, "us-east-2", false, TrustedRoots::System),
            (emulator, "us-east-2", true, TrustedRoots::Amazon),
        ] {
            let roots = TrustedRoots::new(endpoint, Some(region), has_own_roots);
            assert_eq!(roots, expected, "{endpoint:?} {region} {has_own_roots}");
        }
    }
}
