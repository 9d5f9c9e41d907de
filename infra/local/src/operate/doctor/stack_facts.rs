//! A stack as CloudFormation describes it.

use std::collections::BTreeMap;

use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, parse, query, result, text},
    examined::{ExaminationError, Examined},
};

const VERSION: &str = "2010-05-15";

/// A stack as CloudFormation describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackFacts {
    pub status: String,
    /// The reason for the status, if any.
    pub reason: Option<String>,
    pub parameters: BTreeMap<String, String>,
    pub outputs: BTreeMap<String, String>,
    pub resources: Vec<Resource>,
}

/// A stack resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its name in the template after SAM's expansion.
    pub logical: String,
    pub physical: String,
    pub kind: String,
}

impl StackFacts {
    /// The physical names of all resources of a type.
    pub fn physical_names(&self, kind: &str) -> Vec<String> {
        let of_kind = self.resources.iter().filter(|resource| resource.kind == kind);
        of_kind.map(|resource| resource.physical.clone()).collect()
    }

    /// A non-empty parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The stack's domain, or else its API Gateway URL.
    pub fn url(&self) -> Option<String> {
        let own = self.parameter("DomainName").map(|domain| format!("https://{domain}"));
        let url = own.or_else(|| self.outputs.get("BaseUrl").cloned())?;
        Some(url.trim_end_matches('/').to_owned())
    }
}

/// Reads the stack and lists its resources.
pub async fn look(account: &AwsAccount, stack: &str) -> Examined<StackFacts> {
    let named = || ("StackName".to_owned(), stack.to_owned());
    let service = Service::CloudFormation;
    let described = query(account, service, VERSION, "DescribeStacks", &[named()]).await?;
    let mut facts = read_stack(&described)?;
    let mut next = None;
    loop {
        let mut parameters = vec![named()];
        parameters.extend(next.map(|token| ("NextToken".to_owned(), token)));
        let page = query(account, service, VERSION, "ListStackResources", &parameters).await?;
        let (resources, following) = read_resources(&page)?;
        facts.resources.extend(resources);
        next = following;
        if next.is_none() {
            return Ok(facts);
        }
    }
}

pub(super) fn read_stack(answer: &str) -> Examined<StackFacts> {
    const OPERATION: &str = "DescribeStacks";
    let document = parse(OPERATION, answer)?;
    let stack = result(&document).and_then(|it| members(it, "Stacks").into_iter().next());
    let no_stack =
        || ExaminationError::refused(OPERATION, String::new(), "it names no stack".to_owned());
    let stack = stack.ok_or_else(no_stack)?;
    let pairs = |list: &str, key: &str, value: &str| {
        let members = members(stack, list).into_iter();
        let pair = |member| Some((text(member, key)?, text(member, value).unwrap_or_default()));
        members.filter_map(pair).collect()
    };
    Ok(StackFacts {
        status: text(stack, "StackStatus").unwrap_or_default(),
        reason: text(stack, "StackStatusReason"),
        parameters: pairs("Parameters", "ParameterKey", "ParameterValue"),
        outputs: pairs("Outputs", "OutputKey", "OutputValue"),
        resources: Vec::new(),
    })
}

/// A page of resources, and the next page's token.
fn read_resources(answer: &str) -> Examined<(Vec<Resource>, Option<String>)> {
    let document = parse("ListStackResources", answer)?;
    let Some(result) = result(&document) else { return Ok((Vec::new(), None)) };
    let resources = members(result, "StackResourceSummaries").into_iter();
    let read = |member| {
        Some(Resource {
            logical: text(member, "LogicalResourceId")?,
            physical: text(member, "PhysicalResourceId")?,
            kind: text(member, "ResourceType")?,
        })
    };
    Ok((resources.filter_map(read).collect(), text(result, "NextToken")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_read_page_by_page() {
        let page = r#"<ListStackResourcesResponse xmlns="x"><ListStackResourcesResult>
          <NextToken>more</NextToken><StackResourceSummaries>
          <member><LogicalResourceId>Api</LogicalResourceId><ResourceType>T</ResourceType></member>
          <member><LogicalResourceId>NpaFunction</LogicalResourceId>
            <PhysicalResourceId>numbers-Npa-1</PhysicalResourceId>
            <ResourceType>AWS::Lambda::Function</ResourceType></member>
          </StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>"#;
        let (resources, next) = read_resources(page).unwrap();
        assert_eq!(resources.len(), 1, "a resource without a physical name does not exist yet");
        assert_eq!(resources[0].physical, "numbers-Npa-1");
        assert_eq!(next.as_deref(), Some("more"));
    }
}
