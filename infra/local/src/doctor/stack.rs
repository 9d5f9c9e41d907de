//! The stack itself: whether it is complete, and its parameters.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::Document;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, query, result, text, unreadable},
    finding::{Finding, Section},
    look::{Look, LookError},
    remedies::Remedies,
    template_values::TemplateValues,
};

const VERSION: &str = "2010-05-15";

/// What CloudFormation knows of a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackFacts {
    pub status: String,
    /// Why it has this status, if CloudFormation says so.
    pub reason: Option<String>,
    pub parameters: BTreeMap<String, String>,
    pub outputs: BTreeMap<String, String>,
    pub resources: Vec<Resource>,
}

/// A resource of the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its name in the template after SAM has expanded it.
    pub logical: String,
    pub physical: String,
    pub kind: String,
}

impl StackFacts {
    /// The physical names of the resources of a type.
    pub fn physical_names(&self, kind: &str) -> Vec<String> {
        let of_kind = self.resources.iter().filter(|resource| resource.kind == kind);
        of_kind.map(|resource| resource.physical.clone()).collect()
    }

    /// The physical name of every resource by its name in the template.
    pub fn names(&self) -> BTreeMap<String, String> {
        let resources = self.resources.iter();
        resources.map(|resource| (resource.logical.clone(), resource.physical.clone())).collect()
    }
}

/// Whether CloudFormation says that there is no such stack.
pub fn is_missing(error: &LookError) -> bool {
    matches!(error, LookError::Refused { message, .. } if message.contains("does not exist"))
}

/// Reads the stack and lists its resources.
pub async fn look(account: &AwsAccount, stack: &str) -> Look<StackFacts> {
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

fn read_stack(answer: &str) -> Look<StackFacts> {
    const OPERATION: &str = "DescribeStacks";
    let document =
        Document::parse(answer).map_err(unreadable(Service::CloudFormation, OPERATION))?;
    let stack = result(&document, "DescribeStacksResult")
        .and_then(|result| members(result, "Stacks").into_iter().next());
    let Some(stack) = stack else {
        return Err(LookError::refused(Service::CloudFormation, OPERATION, "it names no stack"));
    };
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

/// The resources of a page, and the token of the next one.
fn read_resources(answer: &str) -> Look<(Vec<Resource>, Option<String>)> {
    const OPERATION: &str = "ListStackResources";
    let document =
        Document::parse(answer).map_err(unreadable(Service::CloudFormation, OPERATION))?;
    let Some(result) = result(&document, "ListStackResourcesResult") else {
        return Ok((Vec::new(), None));
    };
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

/// What is to be said of the stack's status and parameters.
pub fn findings(facts: &StackFacts, values: &TemplateValues, remedies: &Remedies) -> Vec<Finding> {
    let mut findings = vec![status(facts, remedies)];
    findings.extend(other_release(facts, values));
    findings.extend(settings(values, remedies));
    findings
}

fn status(facts: &StackFacts, remedies: &Remedies) -> Finding {
    let check = "status";
    let stack = remedies.stack();
    let status = facts.status.as_str();
    let reason = facts.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    let said = format!("{status}{reason}");
    match status {
        "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "IMPORT_COMPLETE" => Finding::ok(check, said),
        "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => Finding::warning(
            check,
            format!("the last deployment failed and was taken back; {said}"),
        )
        .remedy(format!("aws cloudformation describe-stack-events --stack-name {stack}"))
        .section(Section::Deploy),
        "UPDATE_ROLLBACK_FAILED" => {
            Finding::problem(check, format!("the stack can be neither updated nor used; {said}"))
                .remedy(format!("aws cloudformation continue-update-rollback --stack-name {stack}"))
                .section(Section::Deploy)
        }
        "ROLLBACK_COMPLETE" | "ROLLBACK_FAILED" | "CREATE_FAILED" | "DELETE_FAILED" => {
            Finding::problem(check, format!("the stack is not usable; {said}"))
                .remedy(format!("aws cloudformation delete-stack --stack-name {stack}"))
                .section(Section::Deploy)
        }
        status if status.ends_with("_IN_PROGRESS") => {
            Finding::note(check, format!("it is being changed just now; {said}"))
        }
        _ => Finding::problem(check, format!("the stack is not usable; {said}"))
            .section(Section::Deploy),
    }
}

/// A stack with other parameters than the template was deployed from another release.
fn other_release(facts: &StackFacts, values: &TemplateValues) -> Option<Finding> {
    let ours: BTreeSet<&str> = values.declared_parameters().collect();
    let theirs: BTreeSet<&str> = facts.parameters.keys().map(String::as_str).collect();
    let different: Vec<&str> = ours.symmetric_difference(&theirs).copied().collect();
    if different.is_empty() {
        return Some(Finding::ok("parameters", "those of this release's template"));
    }
    let names = different.join(", ");
    let message = format!(
        "the stack was deployed from the template of another release, which differs in the \
         parameters {names}; what follows compares it with the template of this one"
    );
    Some(
        Finding::warning("parameters", message)
            .remedy("run this command from the clone that was deployed, or deploy this one")
            .section(Section::Upgrade),
    )
}

/// Settings that are allowed, and that somebody may have forgotten to set back.
fn settings(values: &TemplateValues, remedies: &Remedies) -> Vec<Finding> {
    let is = |name: &str, value: &str| values.parameter(name) == Some(value);
    let mut findings = Vec::new();
    if is("DeploymentStyle", "AllAtOnce") {
        let message = "'AllAtOnce': no alarm brings the old version back if a new one fails";
        findings.push(
            Finding::note("DeploymentStyle", message)
                .remedy(remedies.set_parameter("DeploymentStyle", "Canary10Percent5Minutes"))
                .section(Section::Deploy),
        );
    }
    if is("LogLevel", "debug") {
        let message = "'debug': every request costs more log lines than it has to";
        findings.push(
            Finding::note("LogLevel", message)
                .remedy(remedies.set_parameter("LogLevel", "info"))
                .section(Section::Logs),
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    const STACK: &str = r#"<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
      <DescribeStacksResult><Stacks><member>
        <StackName>numbers</StackName><StackStatus>UPDATE_ROLLBACK_COMPLETE</StackStatus>
        <StackStatusReason>it failed</StackStatusReason>
        <Parameters><member><ParameterKey>LogLevel</ParameterKey><ParameterValue>debug</ParameterValue></member>
        <member><ParameterKey>AlarmEmail</ParameterKey><ParameterValue/></member></Parameters>
        <Outputs><member><OutputKey>BaseUrl</OutputKey><OutputValue>https://x</OutputValue></member></Outputs>
      </member></Stacks></DescribeStacksResult></DescribeStacksResponse>"#;

    fn values(facts: &StackFacts) -> TemplateValues {
        TemplateValues::new("numbers", "us-east-1", facts.parameters.clone(), facts.names())
            .unwrap()
    }

    #[test]
    fn a_stack_is_read_as_cloudformation_describes_it() {
        let facts = read_stack(STACK).unwrap();
        assert_eq!(facts.parameters["AlarmEmail"], "");
        assert_eq!(facts.outputs["BaseUrl"], "https://x");
        let findings = findings(&facts, &values(&facts), &Remedies::of_stack("numbers"));
        let said = |check: &str| findings.iter().find(|finding| finding.check == check).unwrap();
        assert_eq!(said("status").state, State::Warning);
        assert_eq!(
            said("status").message,
            "the last deployment failed and was taken back; UPDATE_ROLLBACK_COMPLETE (it failed)"
        );
        assert_eq!(said("LogLevel").state, State::Note);
        assert_eq!(said("parameters").state, State::Warning);
        assert!(said("parameters").message.contains("Architecture"));
    }

    #[test]
    fn a_stack_of_this_release_with_its_defaults_is_all_right() {
        let parameters = TemplateValues::of_defaults().unwrap();
        let parameters = parameters
            .declared_parameters()
            .map(|name| {
                (name.to_owned(), parameters.parameter(name).unwrap_or_default().to_owned())
            })
            .collect();
        let status = "CREATE_COMPLETE".to_owned();
        let facts = StackFacts { status, parameters, ..StackFacts::default() };
        let findings = findings(&facts, &values(&facts), &Remedies::of_stack("numbers"));
        assert!(findings.iter().all(|finding| finding.state == State::Ok), "{findings:?}");
    }

    #[test]
    fn resources_come_in_pages() {
        let page = r#"<ListStackResourcesResponse xmlns="x"><ListStackResourcesResult>
          <NextToken>more</NextToken><StackResourceSummaries>
          <member><LogicalResourceId>Api</LogicalResourceId><ResourceType>T</ResourceType></member>
          <member><LogicalResourceId>NpaFunction</LogicalResourceId>
            <PhysicalResourceId>numbers-Npa-1</PhysicalResourceId>
            <ResourceType>AWS::Lambda::Function</ResourceType></member>
          </StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>"#;
        let (resources, next) = read_resources(page).unwrap();
        assert_eq!(resources.len(), 1, "a resource without a physical name is not there yet");
        assert_eq!(resources[0].physical, "numbers-Npa-1");
        assert_eq!(next.as_deref(), Some("more"));
    }
}
