//! `template.yaml` read back: the tables of a deployment, so that the local ones cannot differ from
//! those that are deployed.

use aws_sdk_dynamodb::{
    Client,
    types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType},
};
use store::Store;
use yaml_serde::Value;

use crate::LocalError;

const TEMPLATE: &str = include_str!("../../../template.yaml");
/// What CloudFormation puts before a table's name; locally nothing stands there.
const STACK_PREFIX: &str = "${AWS::StackName}-";

/// A table's name without the stack's, and its partition key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub key: String,
}

/// The tables that the template defines.
///
/// # Errors
/// Returns an error if the template does not define the tables as this module expects.
pub fn tables() -> Result<Vec<Table>, LocalError> {
    let template = parse()?;
    of_type(&template, "AWS::DynamoDB::Table").map(table).collect()
}

/// The template.
///
/// # Errors
/// Returns an error if it is no YAML.
pub(crate) fn parse() -> Result<Value, LocalError> {
    yaml_serde::from_str(TEMPLATE).map_err(|error| LocalError::Template(error.to_string()))
}

/// The resources of a type.
pub(crate) fn of_type<'a>(template: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let resources = template["Resources"].as_mapping().into_iter().flatten();
    resources.map(|(_, resource)| resource).filter(move |resource| resource["Type"] == kind)
}

fn text(value: &Value) -> Result<&str, LocalError> {
    let untagged = match value {
        Value::Tagged(tagged) => &tagged.value,
        plain => plain,
    };
    untagged.as_str().ok_or_else(|| LocalError::Template(format!("{value:?} is no text")))
}

fn table(resource: &Value) -> Result<Table, LocalError> {
    let properties = &resource["Properties"];
    let full_name = text(&properties["TableName"])?;
    let name = full_name.strip_prefix(STACK_PREFIX).ok_or_else(|| {
        LocalError::Template(format!("table '{full_name}' is not named after the stack"))
    })?;
    let key = text(&properties["KeySchema"][0]["AttributeName"])?;
    Ok(Table { name: name.to_owned(), key: key.to_owned() })
}

/// Creates the tables that do not exist yet. Another process may do so at the same time.
///
/// # Errors
/// Returns an error if the database does not answer or refuses a table.
pub async fn create_missing_tables(store: &Store) -> Result<(), LocalError> {
    let (client, names) = store.parts();
    for Table { name, key } in tables()? {
        let local_name = match name.as_str() {
            "carriers" => &names.carriers,
            "exchanges" => &names.exchanges,
            "dataset" => &names.dataset,
            "api_keys" => &names.api_keys,
            "usage" => &names.usage,
            other => return Err(LocalError::Template(format!("nothing uses table '{other}'"))),
        };
        create_unless_exists(client, local_name, &key).await?;
    }
    Ok(())
}

async fn create_unless_exists(client: &Client, name: &str, key: &str) -> Result<(), LocalError> {
    let failed = || format!("cannot create table {name}");
    let attribute = AttributeDefinition::builder()
        .attribute_name(key)
        .attribute_type(ScalarAttributeType::S)
        .build()
        .map_err(LocalError::io(failed()))?;
    let schema = KeySchemaElement::builder()
        .attribute_name(key)
        .key_type(KeyType::Hash)
        .build()
        .map_err(LocalError::io(failed()))?;
    let created = client
        .create_table()
        .table_name(name)
        .attribute_definitions(attribute)
        .key_schema(schema)
        .billing_mode(BillingMode::PayPerRequest)
        .send()
        .await;
    let Err(error) = created else { return Ok(()) };
    match error.as_service_error() {
        Some(refusal) if refusal.is_resource_in_use_exception() => Ok(()),
        Some(_) => Err(LocalError::io(failed())(error)),
        None => Err(LocalError::io("the database does not answer")(error)),
    }
}
