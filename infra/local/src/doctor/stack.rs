//! The examination of a stack in AWS.

use std::{collections::BTreeMap, time::Duration};

use shared::auth::{ApiKey, OriginSecrets};
use signed_requests::{AwsAccount, Service};
use store::Store;

use super::{
    alarms,
    aws::{get_json, members, parse, query, result, text},
    database::{Conditions, DEFAULT_MAX_DAYS, examine_database},
    endpoints::{Target, examine_service},
    finding::{Finding, Group, State, section},
    look::{Look, LookError, group, within},
    remedies::Remedies,
};
use crate::LocalError;

const VERSION: &str = "2010-05-15";
/// A function that asks for the secret of the origin, as all functions behind the API do.
const STATUS_FUNCTION: &str = "StatusFunction";

/// The stack to examine.
pub struct StackTarget<'a> {
    pub name: &'a str,
    /// The address at which clients reach it, if that is not the one that the stack names.
    pub url: Option<&'a str>,
    pub key: Option<ApiKey>,
}

/// A stack, as CloudFormation describes it.
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

    /// A parameter that is not empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The address of the stack's own domain, or else the one that API Gateway gave it.
    fn url(&self) -> Option<String> {
        let own = self.parameter("DomainName").map(|domain| format!("https://{domain}"));
        let url = own.or_else(|| self.outputs.get("BaseUrl").cloned())?;
        Some(url.trim_end_matches('/').to_owned())
    }
}

/// Examines a stack.
pub async fn examine_stack(
    account: &AwsAccount,
    store: &Store,
    target: StackTarget<'_>,
    conditions: Conditions<'_>,
) -> Result<Vec<Group>, LocalError> {
    let limit = conditions.limit;
    let stack = within(limit, look(account, target.name)).await;
    if let Err(LookError::Refused { message, .. }) = &stack
        && message.contains("does not exist")
    {
        let (stack, region) = (target.name.to_owned(), account.region().to_owned());
        return Err(LocalError::NoStack { stack, region });
    }
    let remedies = Remedies::of_stack(target.name);
    let facts = stack.as_ref().ok();
    let max_days = facts.and_then(|stack| stack.parameter("MaxDataAge")?.parse().ok());
    let alarms = async {
        match facts {
            Some(stack) => within(limit, async { Ok(alarms::look(account, stack).await) }).await,
            None => Err(LookError::NoStack),
        }
    };
    let (database, alarms, endpoints) = tokio::join!(
        examine_database(store, max_days.unwrap_or(DEFAULT_MAX_DAYS), &remedies, conditions),
        alarms,
        examine_endpoints(account, facts, &target, limit),
    );
    let mut groups = vec![group("stack", &stack, |stack| findings(stack, &remedies))];
    groups.extend(database);
    groups.push(group("alarms", &alarms, |alarms| alarms::findings(alarms, &remedies)));
    groups.push(endpoints?);
    Ok(groups)
}

/// Examines the endpoints at the address that was given or else at the stack's own, where the functions
/// may ask for a secret.
async fn examine_endpoints(
    account: &AwsAccount,
    stack: Option<&StackFacts>,
    target: &StackTarget<'_>,
    limit: Duration,
) -> Result<Group, LocalError> {
    let key = target.key.clone();
    if let Some(url) = target.url {
        let target = Target { base_url: url.to_owned(), key, origin_secret: None };
        return examine_service(&target, limit).await;
    }
    let Some((stack, base_url)) = stack.and_then(|stack| Some((stack, stack.url()?))) else {
        let findings = vec![LookError::NoStack.finding("endpoints")];
        return Ok(Group { name: "endpoints", findings });
    };
    let secret = within(limit, origin_secret(account, stack)).await;
    let unknown = secret.as_ref().err().map(|error| error.finding("origin secret"));
    let target = Target { base_url, key, origin_secret: secret.unwrap_or_default() };
    let mut group = examine_service(&target, limit).await?;
    group.findings.extend(unknown);
    Ok(group)
}

/// The secret with which requests reach the functions past a distribution, if they ask for one.
/// CloudFormation does not show it.
async fn origin_secret(account: &AwsAccount, stack: &StackFacts) -> Look<Option<String>> {
    let is_status = |resource: &&Resource| resource.logical == STATUS_FUNCTION;
    let function = stack.resources.iter().find(is_status).ok_or(LookError::NoStack)?;
    let name = &function.physical;
    let path = format!("/2015-03-31/functions/{name}/configuration?Qualifier=live");
    let configuration = get_json(account, "GetFunctionConfiguration", &path).await?;
    let secrets = configuration["Environment"]["Variables"]["ORIGIN_SECRET"].as_str();
    Ok(OriginSecrets::of(secrets.unwrap_or_default()).to_send().map(str::to_owned))
}

/// Reads the stack and lists its resources.
async fn look(account: &AwsAccount, stack: &str) -> Look<StackFacts> {
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
    let document = parse(OPERATION, answer)?;
    let stack = result(&document).and_then(|it| members(it, "Stacks").into_iter().next());
    let no_stack = || LookError::refused(OPERATION, String::new(), "it names no stack".to_owned());
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

/// The resources of a page, and the token of the next one.
fn read_resources(answer: &str) -> Look<(Vec<Resource>, Option<String>)> {
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

fn findings(facts: &StackFacts, remedies: &Remedies) -> Vec<Finding> {
    let not_compared = "not compared with the template; drift detection names what was changed by \
                        hand";
    let mut findings = vec![
        status(facts, remedies),
        Finding::note("settings", not_compared)
            .remedy(remedies.cloudformation("detect-stack-drift"))
            .section(section::EXAMINE),
    ];
    // Settings that are allowed, and easily forgotten.
    for (parameter, value, usual, message, section) in [
        (
            "DeploymentStyle",
            "AllAtOnce",
            "Canary10Percent5Minutes",
            "no alarm brings the old version back if a new one fails",
            section::DEPLOY,
        ),
        (
            "LogLevel",
            "debug",
            "info",
            "every request costs more log lines than necessary",
            section::LOGS,
        ),
    ] {
        if facts.parameter(parameter) == Some(value) {
            let note = Finding::note(parameter, format!("'{value}': {message}"));
            findings.push(note.remedy(remedies.set_parameter(parameter, usual)).section(section));
        }
    }
    findings
}

fn status(facts: &StackFacts, remedies: &Remedies) -> Finding {
    let (state, message, command) = match facts.status.as_str() {
        "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "IMPORT_COMPLETE" => (State::Ok, "", None),
        "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
            let message = "the last deployment failed and was rolled back; ";
            (State::Warning, message, Some("describe-stack-events"))
        }
        "UPDATE_ROLLBACK_FAILED" => {
            let message = "the stack can be neither updated nor used; ";
            (State::Problem, message, Some("continue-update-rollback"))
        }
        status if status.ends_with("_IN_PROGRESS") => {
            (State::Note, "it is changing right now; ", None)
        }
        "ROLLBACK_COMPLETE" | "ROLLBACK_FAILED" | "CREATE_FAILED" | "DELETE_FAILED" => {
            (State::Problem, "the stack is not usable; ", Some("delete-stack"))
        }
        _ => (State::Problem, "the stack is not usable; ", None),
    };
    let reason = facts.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    let finding = Finding::new(state, "status", format!("{message}{}{reason}", facts.status));
    match command {
        Some(command) => finding.remedy(remedies.cloudformation(command)).section(section::DEPLOY),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_read_as_cloudformation_describes_it() {
        let stack = r#"<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
          <DescribeStacksResult><Stacks><member>
            <StackName>numbers</StackName><StackStatus>UPDATE_ROLLBACK_COMPLETE</StackStatus>
            <StackStatusReason>it failed</StackStatusReason>
            <Parameters><member><ParameterKey>LogLevel</ParameterKey><ParameterValue>debug</ParameterValue></member>
            <member><ParameterKey>AlarmEmail</ParameterKey><ParameterValue/></member></Parameters>
            <Outputs><member><OutputKey>BaseUrl</OutputKey><OutputValue>https://x/</OutputValue></member></Outputs>
          </member></Stacks></DescribeStacksResult></DescribeStacksResponse>"#;
        let facts = read_stack(stack).unwrap();
        assert_eq!(
            (facts.parameter("AlarmEmail"), facts.url().as_deref()),
            (None, Some("https://x"))
        );
        let findings = findings(&facts, &Remedies::of_stack("numbers"));
        let said: Vec<String> = findings
            .iter()
            .map(|finding| {
                format!("{} {}: {}", finding.state.word(), finding.check, finding.message)
            })
            .collect();
        assert_eq!(
            said[0],
            "warning status: the last deployment failed and was rolled back; \
             UPDATE_ROLLBACK_COMPLETE (it failed)"
        );
        assert!(said[2].starts_with("note LogLevel: 'debug'"), "{said:?}");
    }

    #[test]
    fn the_template_has_the_function_that_knows_the_secret() {
        let template = crate::template::parse().unwrap();
        assert_eq!(template["Resources"][STATUS_FUNCTION]["Type"], "AWS::Serverless::Function");
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
        assert_eq!(resources.len(), 1, "a resource without a physical name does not exist yet");
        assert_eq!(resources[0].physical, "numbers-Npa-1");
        assert_eq!(next.as_deref(), Some("more"));
    }
}
