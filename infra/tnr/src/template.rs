//! The tables in `template.yaml`, so that local tables always match deployed ones.

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

fn text(value: &Value) -> Result<&str, CliError> {
    let untagged = match value {
        Value::Tagged(tagged) => &tagged.value,
        plain => plain,
    };
    untagged.as_str().ok_or_else(|| unexpected(format!("{value:?} is not a string")))
}

fn table(resource: &Value) -> Result<Table, CliError> {
    let properties = &resource["Properties"];
    let full_name = text(&properties["TableName"])?;
    let name = full_name.strip_prefix(STACK_PREFIX).ok_or_else(|| {
        unexpected(format!("table name '{full_name}' does not start with the stack's name"))
    })?;
    let key = text(&properties["KeySchema"][0]["AttributeName"])?;
    let optional = |attribute: &Value| match attribute {
        Value::Null => Ok(None),
        attribute => text(attribute).map(|text| Some(text.to_owned())),
    };
    Ok(Table {
        name: name.to_owned(),
        key: key.to_owned(),
        sort_key: optional(&properties["KeySchema"][1]["AttributeName"])?,
        time_to_live: optional(&properties["TimeToLiveSpecification"]["AttributeName"])?,
    })
}
