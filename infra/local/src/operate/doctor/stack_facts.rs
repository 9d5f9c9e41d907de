//! A stack as CloudFormation describes it.

use std::collections::BTreeMap;

use serde_json::Value;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, query, text, text_or_empty},
    facts::FactResult,
};

const VERSION: &str = "2010-05-15";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackFacts {
    pub status: String,
    pub reason: Option<String>,
    pub parameters: BTreeMap<String, String>,
    pub outputs: BTreeMap<String, String>,
    pub resources: Vec<Value>,
}

impl StackFacts {
    /// Parses the result of `DescribeStacks`, which fails for a stack that does not exist.
    fn from_description(result: &Value) -> Self {
        let stack = &result["Stacks"][0];
        let pairs = |list: &str, key: &str, value: &str| {
            let pair = |member: &Value| (text_or_empty(member, key), text_or_empty(member, value));
            members(stack, list).iter().map(pair).collect()
        };
        Self {
            status: text_or_empty(stack, "StackStatus"),
            reason: text(stack, "StackStatusReason").map(str::to_owned),
            parameters: pairs("Parameters", "ParameterKey", "ParameterValue"),
            outputs: pairs("Outputs", "OutputKey", "OutputValue"),
            resources: Vec::new(),
        }
    }

    /// The physical names of all resources of a type, except those not created yet.
    pub fn physical_names(&self, kind: &str) -> Vec<String> {
        let resources = self.resources.iter().filter(|resource| resource["ResourceType"] == kind);
        resources.filter_map(|it| text(it, "PhysicalResourceId").map(str::to_owned)).collect()
    }

    /// A parameter's value; `None` if missing or empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The base URL for clients.
    pub fn url(&self) -> Option<&str> {
        self.outputs.get("BaseUrl").map(|url| url.trim_end_matches('/'))
    }
}

/// Reads the stack and its resources.
pub async fn gather(account: &AwsAccount, stack: &str) -> FactResult<StackFacts> {
    let stack_name = || ("StackName".to_owned(), stack.to_owned());
    let service = Service::CloudFormation;
    let description = query(account, service, VERSION, "DescribeStacks", &[stack_name()]).await?;
    let mut facts = StackFacts::from_description(&description);
    let mut next: Option<String> = None;
    loop {
        let mut parameters = vec![stack_name()];
        parameters.extend(next.map(|token| ("NextToken".to_owned(), token)));
        let page = query(account, service, VERSION, "ListStackResources", &parameters).await?;
        facts.resources.extend_from_slice(members(&page, "StackResourceSummaries"));
        next = text(&page, "NextToken").map(str::to_owned);
        if next.is_none() {
            return Ok(facts);
        }
    }
}
