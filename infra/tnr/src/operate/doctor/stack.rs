//! Checks a stack on AWS: its status and its alarms.

use std::{collections::BTreeMap, time::Duration};

use form_urlencoded::Serializer;
use reqwest::Method;
use roxmltree::{Document, Node};
use serde_json::{Value, json};
use signed_requests::{AwsAccount, CallError, MAX_RESPONSE_BYTES, Service, first_bytes};

use super::finding::{CheckResult, Finding, State};
use crate::{CliError, error::Context};

const CALL_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Stack {
    pub status: String,
    pub parameters: BTreeMap<String, String>,
    pub outputs: BTreeMap<String, String>,
}

impl Stack {
    pub async fn describe(account: &AwsAccount, name: &str) -> Result<Self, CliError> {
        let cloudformation = (Service::CloudFormation, "2010-05-15");
        let described =
            query(account, cloudformation, "DescribeStacks", &[("StackName", name)]).await?;
        let stack = &described["Stacks"][0];
        let pairs = |list: &str, key: &str, value: &str| {
            let pair = |it: &Value| (text(it, key).to_owned(), text(it, value).to_owned());
            members(stack, list).map(pair).collect()
        };
        Ok(Self {
            status: text(stack, "StackStatus").to_owned(),
            parameters: pairs("Parameters", "ParameterKey", "ParameterValue"),
            outputs: pairs("Outputs", "OutputKey", "OutputValue"),
        })
    }

    pub fn finding(&self, name: &str) -> Finding {
        let status = &*self.status;
        let (state, message) = match status {
            "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "IMPORT_COMPLETE" => {
                return Finding::ok("status", status);
            }
            _ if status.ends_with("_IN_PROGRESS") => {
                return Finding::note("status", format!("changing right now; {status}"));
            }
            "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
                (State::Warning, "the last deployment failed and was rolled back")
            }
            _ => (State::Problem, "the stack is not usable"),
        };
        Finding::new(state, "status", format!("{message}; {status}"))
            .remedy(format!("aws cloudformation describe-stack-events --stack-name {name}"))
            .section("Deploy")
    }
}

pub async fn check_alarms(account: &AwsAccount, stack: &str) -> CheckResult {
    let cloudwatch = (Service::CloudWatch, "2010-08-01");
    let prefix = format!("{stack}-");
    let (mut findings, mut next) = (Vec::new(), String::new());
    loop {
        let mut parameters = vec![("AlarmNamePrefix", &*prefix)];
        if !next.is_empty() {
            parameters.push(("NextToken", &*next));
        }
        let alarms = query(account, cloudwatch, "DescribeAlarms", &parameters).await?;
        findings.extend(alarm_findings(members(&alarms, "MetricAlarms"), &prefix));
        next = text(&alarms, "NextToken").to_owned();
        if next.is_empty() {
            break;
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("alarms", "none is firing"));
    }
    Ok(findings)
}

/// An alarm is named STACK-NAME, where only the stack's name can contain hyphens. The prefix `api-` also matches alarms
/// in the stack `api-test`.
fn alarm_findings<'a>(alarms: impl Iterator<Item = &'a Value>, prefix: &str) -> Vec<Finding> {
    let is_own = |alarm: &&Value| {
        text(alarm, "AlarmName").strip_prefix(prefix).is_some_and(|it| !it.contains('-'))
    };
    alarms.filter(is_own).flat_map(findings_for_alarm).collect()
}

fn findings_for_alarm(alarm: &Value) -> Vec<Finding> {
    let name = text(alarm, "AlarmName");
    let mut findings = Vec::new();
    if alarm["StateValue"] == "ALARM" {
        // Each alarm's description ends with a heading.
        let heading = text(alarm, "AlarmDescription").rsplit_once("see '");
        let heading = heading.and_then(|it| it.1.strip_suffix("' in OPERATIONS.md"));
        let message = format!("firing: {}", text(alarm, "StateReason"));
        findings.push(Finding::problem(name, message).section(heading.unwrap_or("Alarms")));
    }
    if alarm["ActionsEnabled"] != "true" {
        findings.push(
            Finding::warning(name, "its actions are disabled, so it notifies nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section("Alarms"),
        );
    }
    findings
}

/// Calls an operation with the Query protocol (forms in, XML out), and returns its result as
/// [`xml_to_json`] converts it.
async fn query(
    account: &AwsAccount,
    (service, version): (Service, &str),
    action: &str,
    parameters: &[(&str, &str)],
) -> Result<Value, CliError> {
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", action).append_pair("Version", version).extend_pairs(parameters);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let body = form.finish().into_bytes();
    let failed = || format!("{action} failed");
    let response = account.call(service, Method::POST, "/", &headers, body, CALL_TIMEOUT).await;
    let response = match response {
        Err(CallError::Refused { body, .. }) => {
            let reason = xml_to_json(&body).map_or(body, |document| {
                let error = &document["Error"];
                format!("{}: {}", text(error, "Code"), text(error, "Message"))
            });
            return Err(CliError::io(failed())(reason));
        }
        response => response.context(failed())?,
    };
    let xml = first_bytes(response, MAX_RESPONSE_BYTES).await.context(failed())?;
    let mut document = xml_to_json(&String::from_utf8_lossy(&xml)).context(failed())?;
    Ok(document[format!("{action}Result")].take())
}

/// Converts an XML document's root element to objects, arrays of `member`s, and strings. Ignores
/// namespaces, which differ by service.
fn xml_to_json(xml: &str) -> Result<Value, roxmltree::Error> {
    fn to_json(node: Node<'_, '_>) -> Value {
        let children = || node.children().filter(Node::is_element);
        if children().any(|child| child.tag_name().name() == "member") {
            return children().map(to_json).collect();
        }
        if children().next().is_none() {
            return json!(node.text());
        }
        children().map(|child| (child.tag_name().name().to_owned(), to_json(child))).collect()
    }
    Ok(to_json(Document::parse(xml)?.root_element()))
}

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

fn members<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    object[name].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_deployments_are_reported() {
        for (status, expected) in [
            ("UPDATE_COMPLETE", "ok status: UPDATE_COMPLETE"),
            ("DELETE_IN_PROGRESS", "note status: changing right now; DELETE_IN_PROGRESS"),
            (
                "UPDATE_ROLLBACK_COMPLETE",
                "warning status: the last deployment failed and was rolled back; \
                 UPDATE_ROLLBACK_COMPLETE",
            ),
            ("ROLLBACK_COMPLETE", "problem status: the stack is not usable; ROLLBACK_COMPLETE"),
            ("CREATE_FAILED", "problem status: the stack is not usable; CREATE_FAILED"),
        ] {
            let status = status.to_owned();
            let stack = Stack { status, parameters: BTreeMap::new(), outputs: BTreeMap::new() };
            assert_eq!(stack.finding("x").line(), expected);
        }
    }

    fn alarm(name: &str, state: &str, actions: &str, description: &str) -> Value {
        json!({
            "AlarmName": name, "StateValue": state, "ActionsEnabled": actions,
            "AlarmDescription": description, "StateReason": "2 datapoints",
        })
    }

    #[test]
    fn only_the_stacks_firing_or_silenced_alarms_are_reported() {
        let section = "numbers: DynamoDB fails; see 'Database' in OPERATIONS.md";
        let alarms = [
            alarm("api-SlowAlarm", "ALARM", "true", ""),
            alarm("api-DatabaseAlarm", "ALARM", "true", section),
            alarm("api-NoDataAlarm", "OK", "true", ""),
            alarm("api-CnacAlarm", "OK", "false", ""),
            alarm("api-test-SlowAlarm", "ALARM", "true", ""),
        ];
        let found = alarm_findings(alarms.iter(), "api-");
        let found = found.iter().map(|it| (it.line(), it.section.as_deref().unwrap()));
        assert!(
            found.eq([
                ("problem api-SlowAlarm: firing: 2 datapoints", "Alarms"),
                ("problem api-DatabaseAlarm: firing: 2 datapoints", "Database"),
                (
                    "warning api-CnacAlarm: its actions are disabled, so it notifies nobody",
                    "Alarms"
                ),
            ]
            .map(|(line, section)| (line.to_owned(), section)))
        );
    }
}
