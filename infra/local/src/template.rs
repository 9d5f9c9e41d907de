//! The tables in `template.yaml`, so that local tables always match deployed ones.

use yaml_serde::Value;

use crate::{CliError, error::Cause};

const TEMPLATE: &str = include_str!("../../../template.yaml");
/// The prefix of table names in a deployment.
const STACK_PREFIX: &str = "${AWS::StackName}-";

/// A table: its name without the stack's, its partition key, and its time-to-live attribute, if
/// any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub key: String,
    pub time_to_live: Option<String>,
}

/// The tables in the template.
pub fn tables() -> Result<Vec<Table>, CliError> {
    let template = parse()?;
    resources_of(&template, "AWS::DynamoDB::Table").map(table).collect()
}

/// The parsed template.
pub(crate) fn parse() -> Result<Value, CliError> {
    yaml_serde::from_str(TEMPLATE).map_err(unexpected)
}

/// The error for a template that does not define the tables as expected.
pub(crate) fn unexpected(cause: impl Into<Cause>) -> CliError {
    CliError::io("template.yaml does not define the tables as expected")(cause)
}

/// The resources of a type.
pub(crate) fn resources_of<'a>(
    template: &'a Value,
    kind: &'a str,
) -> impl Iterator<Item = &'a Value> {
    let resources = template["Resources"].as_mapping().into_iter().flatten();
    resources.map(|(_, resource)| resource).filter(move |resource| resource["Type"] == kind)
}

fn text(value: &Value) -> Result<&str, CliError> {
    let untagged = match value {
        Value::Tagged(tagged) => &tagged.value,
        plain => plain,
    };
    untagged.as_str().ok_or_else(|| unexpected(format!("{value:?} is not text")))
}

fn table(resource: &Value) -> Result<Table, CliError> {
    let properties = &resource["Properties"];
    let full_name = text(&properties["TableName"])?;
    let name = full_name
        .strip_prefix(STACK_PREFIX)
        .ok_or_else(|| unexpected(format!("table '{full_name}' is not named after the stack")))?;
    let key = text(&properties["KeySchema"][0]["AttributeName"])?;
    let time_to_live = match &properties["TimeToLiveSpecification"]["AttributeName"] {
        Value::Null => None,
        attribute => Some(text(attribute)?.to_owned()),
    };
    Ok(Table { name: name.to_owned(), key: key.to_owned(), time_to_live })
}
