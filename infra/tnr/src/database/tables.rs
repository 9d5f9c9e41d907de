//! The tables: creates the template's tables in a database outside AWS, and protects a stack's tables from deletion.

use std::time::Duration;

use aws_sdk_dynamodb::{
    Client,
    operation::describe_table::DescribeTableError,
    types::{
        AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
        TableDescription, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
    },
};
use logging::with_causes;
use serde::Deserialize;
use store::{Store, Tables};
use yaml_serde::Value;

use crate::{
    CliError,
    database::args::DataArgs,
    error::{Cause, Context},
    terminal::show_note,
};

const TEMPLATE: &str = include_str!("../../../../template.yaml");
/// The stack's name in the template.
const STACK: &str = "${AWS::StackName}";

/// The interval and maximum number of polls for a new table: one minute in total.
const TABLE_POLL_INTERVAL: Duration = Duration::from_millis(100);
const MAX_TABLE_POLLS: usize = 600;

/// A table in the template, so that local tables always match deployed ones.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Table {
    table_name: String,
    /// The partition key, and the sort key if the table has one.
    key_schema: Vec<Attribute>,
    time_to_live_specification: Option<Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    attribute_name: String,
}

fn tables_in_template() -> Result<Vec<Table>, CliError> {
    let template: Value = yaml_serde::from_str(TEMPLATE).map_err(unexpected)?;
    let resources = template["Resources"].as_mapping().into_iter().flatten();
    let resources = resources.map(|(_, resource)| resource);
    let tables = resources.filter(|resource| resource["Type"] == "AWS::DynamoDB::Table");
    let properties = tables.map(|table| table["Properties"].clone());
    properties.map(|table| yaml_serde::from_value(table).map_err(unexpected)).collect()
}

fn unexpected(cause: impl Into<Cause>) -> CliError {
    CliError::io("template.yaml does not define the tables as expected")(cause)
}

/// Creates missing tables and waits until all are active. Other processes may do so concurrently.
pub async fn create_missing(store: &Store) -> Result<(), CliError> {
    let (client, names) = store.parts();
    let tables = tables_in_template()?;
    for table in &tables {
        create_if_missing(client, table_name(table, names)?, table).await?;
    }
    for table in &tables {
        let name = table_name(table, names)?;
        wait_until_active(client, name).await?;
        if let Some(Attribute { attribute_name }) = &table.time_to_live_specification {
            enable_time_to_live(client, name, attribute_name).await;
        }
    }
    Ok(())
}

pub async fn describe(client: &Client, name: &str) -> Result<Option<TableDescription>, Cause> {
    match client.describe_table().table_name(name).send().await {
        Ok(output) => Ok(output.table),
        Err(error) => match error.as_service_error() {
            Some(DescribeTableError::ResourceNotFoundException(_)) => Ok(None),
            _ => Err(error.into()),
        },
    }
}

pub async fn has_any(store: &Store) -> Result<bool, CliError> {
    let (client, names) = store.parts();
    for table in [store::Table::Dataset, store::Table::ApiKeys] {
        let table = describe(client, names.name(table)).await;
        if table.context("the database is not responding")?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn table_name<'a>(table: &Table, names: &'a Tables) -> Result<&'a str, CliError> {
    let in_template = Tables::for_stack(STACK);
    let mut names = in_template.names().zip(names.names());
    let found = names.find(|(name, _)| *name == table.table_name);
    let unused = || unexpected(format!("nothing uses table '{}'", table.table_name));
    found.map(|(_, name)| name).ok_or_else(unused)
}

async fn create_if_missing(client: &Client, name: &str, table: &Table) -> Result<(), CliError> {
    let failed = || format!("cannot create table {name}");
    let mut create =
        client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    for (attribute, key_type) in table.key_schema.iter().zip([KeyType::Hash, KeyType::Range]) {
        let key = &attribute.attribute_name;
        let attribute = AttributeDefinition::builder().attribute_name(key);
        let attribute = attribute.attribute_type(ScalarAttributeType::S).build();
        let schema = KeySchemaElement::builder().attribute_name(key).key_type(key_type).build();
        create = create
            .attribute_definitions(attribute.expect("both fields are set"))
            .key_schema(schema.expect("both fields are set"));
    }
    let created = create.send().await;
    let Err(error) = created else { return Ok(()) };
    match error.as_service_error() {
        Some(refusal) if refusal.is_resource_in_use_exception() => Ok(()),
        Some(_) => Err(CliError::io(failed())(error)),
        None => Err(CliError::io("the database is not responding")(error)),
    }
}

/// Waits until a table is active. The SDK polls only every 20 seconds, which is too slow outside
/// AWS.
async fn wait_until_active(client: &Client, name: &str) -> Result<(), CliError> {
    for _ in 0..MAX_TABLE_POLLS {
        let table = describe(client, name).await.context(format!("cannot use table {name}"))?;
        if table.and_then(|table| table.table_status) == Some(TableStatus::Active) {
            return Ok(());
        }
        tokio::time::sleep(TABLE_POLL_INTERVAL).await;
    }
    Err(CliError::failed(format!("table '{name}' is not ready")))
}

/// Enables deletion of expired items. A database without this feature still works, but grows.
async fn enable_time_to_live(client: &Client, table: &str, attribute: &str) {
    let described = client.describe_time_to_live().table_name(table).send().await;
    let status =
        described.ok().and_then(|output| output.time_to_live_description?.time_to_live_status);
    if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
        return;
    }
    let specification =
        TimeToLiveSpecification::builder().attribute_name(attribute).enabled(true).build();
    let specification = specification.expect("both fields are set");
    let enabled =
        client.update_time_to_live().table_name(table).time_to_live_specification(specification);
    if let Err(error) = enabled.send().await {
        tracing::warn!(
            error = with_causes(&error),
            table,
            "the database does not delete expired items, so it keeps growing"
        );
    }
}

/// Enables deletion protection on a stack's tables. The template does not, so that a failed stack creation can be
/// rolled back. Failures are only warnings.
pub async fn protect_stack_tables(store: &Store, data: &DataArgs) {
    if data.stack.is_none() {
        return;
    }
    let (client, tables) = store.parts();
    let mut protected = Vec::new();
    for table in tables.names() {
        match protect(client, table).await {
            Ok(true) => protected.push(table),
            Ok(false) => (),
            Err(error) => show_note(&format!(
                "warning: {}; run 'aws dynamodb update-table --table-name {table} \
                 --deletion-protection-enabled'",
                with_causes(&error)
            )),
        }
    }
    if !protected.is_empty() {
        show_note(&format!("Enabled deletion protection on {}.", protected.join(", ")));
    }
}

/// Protects a table. Returns `true` if it was not protected before.
async fn protect(client: &Client, table: &str) -> Result<bool, CliError> {
    let failed = || format!("cannot enable deletion protection on table {table}");
    let described = describe(client, table).await.context(failed())?;
    if described.is_some_and(|table| table.deletion_protection_enabled() == Some(true)) {
        return Ok(false);
    }
    let update = client.update_table().table_name(table).deletion_protection_enabled(true);
    update.send().await.context(failed())?;
    Ok(true)
}
