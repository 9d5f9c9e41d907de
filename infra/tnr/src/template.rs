//! The tables in `template.yaml`, so that local tables always match deployed ones.

use serde::Deserialize;
use yaml_serde::Value;

use crate::{CliError, error::Cause};

const TEMPLATE: &str = include_str!("../../../template.yaml");
/// The prefix of table names in the template.
const STACK_PREFIX: &str = "${AWS::StackName}-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub key: String,
    pub sort_key: Option<String>,
    pub time_to_live: Option<String>,
}

pub fn tables() -> Result<Vec<Table>, CliError> {
    let template = parse()?;
    let resources = template["Resources"].as_mapping().into_iter().flatten();
    let resources = resources.map(|(_, resource)| resource);
    resources.filter(|resource| resource["Type"] == "AWS::DynamoDB::Table").map(table).collect()
}

pub(crate) fn parse() -> Result<Value, CliError> {
    yaml_serde::from_str(TEMPLATE).map_err(unexpected)
}

pub(crate) fn unexpected(cause: impl Into<Cause>) -> CliError {
    CliError::io("template.yaml does not define the tables as expected")(cause)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Properties {
    table_name: Value,
    key_schema: Vec<Attribute>,
    time_to_live_specification: Option<Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    attribute_name: String,
}

fn table(resource: &Value) -> Result<Table, CliError> {
    let properties: Properties =
        yaml_serde::from_value(resource["Properties"].clone()).map_err(unexpected)?;
    let full_name = match &properties.table_name {
        Value::Tagged(tagged) => tagged.value.as_str(),
        plain => plain.as_str(),
    };
    let name = full_name.and_then(|name| name.strip_prefix(STACK_PREFIX));
    let name = name.ok_or_else(|| unexpected("a name does not start with the stack's name"))?;
    let mut keys = properties.key_schema.into_iter().map(|key| key.attribute_name);
    Ok(Table {
        name: name.to_owned(),
        key: keys.next().ok_or_else(|| unexpected("a table has no key"))?,
        sort_key: keys.next(),
        time_to_live: properties.time_to_live_specification.map(|it| it.attribute_name),
    })
}
