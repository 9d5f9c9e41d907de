//! Examines an AWS stack.

use std::time::Duration;

use shared::auth::{ApiKey, OriginSecrets};
use signed_requests::AwsAccount;
use store::Store;

use super::{
    alarms,
    aws::get_json,
    database::{Conditions, DEFAULT_MAX_DAYS, examine_database},
    endpoints::{Target, examine_service},
    examined::{ExaminationError, Examined, group, within},
    finding::{Finding, Group, State, section},
    remedies::Remedies,
    stack_facts::{self, StackFacts},
};
use crate::CliError;

/// A function that checks the origin secret, as all API functions do.
const STATUS_FUNCTION: &str = "StatusFunction";

pub struct StackTarget<'a> {
    pub name: &'a str,
    /// The URL for clients, if it differs from the stack's.
    pub url: Option<&'a str>,
    pub key: Option<ApiKey>,
}

/// Examines a stack.
pub async fn examine_stack(
    account: &AwsAccount,
    store: &Store,
    target: StackTarget<'_>,
    conditions: Conditions<'_>,
) -> Result<Vec<Group>, CliError> {
    let limit = conditions.limit;
    let stack = within(limit, stack_facts::look(account, target.name)).await;
    if let Err(ExaminationError::Refused { message, .. }) = &stack
        && message.contains("does not exist")
    {
        let (stack, region) = (target.name.to_owned(), account.region().to_owned());
        return Err(CliError::NoStack { stack, region });
    }
    let remedies = Remedies::for_stack(target.name);
    let facts = stack.as_ref().ok();
    let max_days = facts.and_then(|stack| stack.parameter("MaxDataAge")?.parse().ok());
    let alarms = async {
        match facts {
            Some(stack) => within(limit, async { Ok(alarms::look(account, stack).await) }).await,
            None => Err(ExaminationError::NoStack),
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

/// Examines the endpoints at the given URL or the stack's own, where functions may require a
/// secret.
async fn examine_endpoints(
    account: &AwsAccount,
    stack: Option<&StackFacts>,
    target: &StackTarget<'_>,
    limit: Duration,
) -> Result<Group, CliError> {
    let key = target.key.clone();
    if let Some(url) = target.url {
        let target = Target { base_url: url.to_owned(), key, origin_secret: None };
        return examine_service(&target, limit).await;
    }
    let Some((stack, base_url)) = stack.and_then(|stack| Some((stack, stack.url()?))) else {
        let findings = vec![ExaminationError::NoStack.finding("endpoints")];
        return Ok(Group { name: "endpoints", findings });
    };
    let secret = within(limit, origin_secret(account, stack)).await;
    let unknown = secret.as_ref().err().map(|error| error.finding("origin secret"));
    let target = Target { base_url, key, origin_secret: secret.unwrap_or_default() };
    let mut group = examine_service(&target, limit).await?;
    group.findings.extend(unknown);
    Ok(group)
}

/// The secret for requests that bypass a distribution, if functions require one. CloudFormation
/// does not show it.
async fn origin_secret(account: &AwsAccount, stack: &StackFacts) -> Examined<Option<String>> {
    let name = stack.physical_name(STATUS_FUNCTION).ok_or(ExaminationError::NoStack)?;
    let path = format!("/2015-03-31/functions/{name}/configuration?Qualifier=live");
    let configuration = get_json(account, "GetFunctionConfiguration", &path).await?;
    let secrets = configuration["Environment"]["Variables"]["ORIGIN_SECRET"].as_str();
    Ok(OriginSecrets::parse(secrets.unwrap_or_default()).to_send().map(str::to_owned))
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
    // Settings that are allowed but easily forgotten.
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
    use crate::operate::doctor::aws::json_of_xml;

    #[test]
    fn stack_matches_the_cloudformation_description() {
        let stack = r#"<DescribeStacksResult xmlns="x"><Stacks><member>
            <StackName>numbers</StackName><StackStatus>UPDATE_ROLLBACK_COMPLETE</StackStatus>
            <StackStatusReason>it failed</StackStatusReason>
            <Parameters><member><ParameterKey>LogLevel</ParameterKey><ParameterValue>debug</ParameterValue></member>
            <member><ParameterKey>AlarmEmail</ParameterKey><ParameterValue/></member></Parameters>
            <Outputs><member><OutputKey>BaseUrl</OutputKey><OutputValue>https://x/</OutputValue></member></Outputs>
          </member></Stacks></DescribeStacksResult>"#;
        let facts = StackFacts::from_answer(&json_of_xml(stack).unwrap());
        let (email, url) = (facts.parameter("AlarmEmail"), facts.url());
        assert_eq!((email, url.as_deref()), (None, Some("https://x")));
        let findings = findings(&facts, &Remedies::for_stack("numbers"));
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
    fn template_has_the_function_with_the_secret() {
        let template = crate::template::parse().unwrap();
        assert_eq!(template["Resources"][STATUS_FUNCTION]["Type"], "AWS::Serverless::Function");
    }
}
