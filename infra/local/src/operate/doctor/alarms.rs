//! Alarms and their subscribers.

use serde_json::Value;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, query, text, text_or_empty},
    facts::FactResult,
    finding::{Finding, section},
    remedies::Remedies,
    stack_facts::StackFacts,
};
use crate::terminal::next_commands::quote;

const CHECK: &str = "subscriptions";
const MAX_NAMES_PER_CALL: usize = 100;
/// The prefix of a confirmed subscription's ARN. SNS returns `PendingConfirmation` before
/// confirmation, and `Deleted` after removal.
const ARN_PREFIX: &str = "arn:";
const ADDRESS_PARAMETER: &str = "AlarmEmail";

/// Facts about a stack's alarms and the subscriptions to their topics.
#[derive(Debug)]
pub struct AlarmFacts {
    /// The stack's alarms, including deleted ones.
    names: Vec<String>,
    alarms: FactResult<Vec<Value>>,
    topics: Vec<(String, FactResult<Vec<Value>>)>,
    address: Option<String>,
}

pub async fn gather(account: &AwsAccount, stack: &StackFacts) -> AlarmFacts {
    let names = stack.physical_names("AWS::CloudWatch::Alarm");
    let alarms = fetch_alarms(account, &names).await;
    let mut topics = Vec::new();
    for arn in stack.physical_names("AWS::SNS::Topic") {
        let parameters = [("TopicArn".to_owned(), arn.clone())];
        let (service, version) = (Service::Sns, "2010-03-31");
        let result = query(account, service, version, "ListSubscriptionsByTopic", &parameters);
        let subscriptions = result.await.map(|result| members(&result, "Subscriptions").to_vec());
        topics.push((arn, subscriptions));
    }
    let address = stack.parameter(ADDRESS_PARAMETER).map(str::to_owned);
    AlarmFacts { names, alarms, topics, address }
}

async fn fetch_alarms(account: &AwsAccount, names: &[String]) -> FactResult<Vec<Value>> {
    let mut alarms = Vec::new();
    for names in names.chunks(MAX_NAMES_PER_CALL) {
        let numbered = (1..).zip(names);
        let mut parameters: Vec<(String, String)> = numbered
            .map(|(index, name)| (format!("AlarmNames.member.{index}"), name.clone()))
            .collect();
        parameters.push(("MaxRecords".to_owned(), MAX_NAMES_PER_CALL.to_string()));
        let (service, version) = (Service::CloudWatch, "2010-08-01");
        let result = query(account, service, version, "DescribeAlarms", &parameters).await?;
        alarms.extend_from_slice(members(&result, "MetricAlarms"));
    }
    Ok(alarms)
}

pub fn findings(facts: &AlarmFacts, remedies: &Remedies) -> Vec<Finding> {
    let AlarmFacts { names, alarms, topics, address } = facts;
    let mut findings = match alarms {
        Ok(alarms) => alarm_findings(names, alarms, remedies),
        Err(error) => vec![error.finding("alarms")],
    };
    for (topic, subscriptions) in topics {
        match subscriptions {
            Ok(subscriptions) if subscriptions.is_empty() => findings.push(
                Finding::warning(CHECK, "alarms notify nobody")
                    .remedy(subscribe(topic, address.as_deref(), remedies))
                    .section(section::DEPLOY),
            ),
            Ok(subscriptions) => findings.extend(subscription_findings(subscriptions)),
            Err(error) => findings.push(error.finding(CHECK)),
        }
    }
    findings
}

fn alarm_findings(names: &[String], alarms: &[Value], remedies: &Remedies) -> Vec<Finding> {
    let ok = alarms.iter().filter(|alarm| alarm["StateValue"] == "OK").count();
    let mut findings = vec![Finding::ok("alarms", format!("{ok} of {} are OK", names.len()))];
    findings.extend(alarms.iter().flat_map(findings_for_alarm));
    let is_deleted = |name: &&String| !alarms.iter().any(|alarm| alarm["AlarmName"] == **name);
    findings.extend(names.iter().filter(is_deleted).map(|name| {
        Finding::problem(name, "the alarm has been deleted")
            .remedy(remedies.deploy())
            .section(section::ALARMS)
    }));
    findings
}

fn findings_for_alarm(alarm: &Value) -> Vec<Finding> {
    let field = |name| text_or_empty(alarm, name);
    let (name, description, reason) =
        (field("AlarmName"), field("AlarmDescription"), field("StateReason"));
    // Each alarm's description ends with a heading.
    let section = description.rsplit_once("see '");
    let section = section.and_then(|it| it.1.strip_suffix("' in OPERATIONS.md"));
    let section = section.unwrap_or(section::ALARMS);
    let mut findings = Vec::new();
    match field("StateValue").as_str() {
        "OK" => (),
        "ALARM" => {
            findings.push(Finding::problem(&name, format!("firing: {reason}")).section(section));
        }
        // New alarms have this state until their metric has data.
        state => findings.push(Finding::note(&name, format!("{state}: {reason}")).section(section)),
    }
    if alarm["ActionsEnabled"] != "true" {
        findings.push(
            Finding::warning(&name, "its actions are disabled, so it notifies nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section(section::ALARMS),
        );
    }
    if members(alarm, "AlarmActions").is_empty() {
        let message = "it has no actions, so it notifies nobody";
        findings.push(Finding::warning(&name, message).section(section::ALARMS));
    }
    findings
}

fn subscription_findings(subscriptions: &[Value]) -> Vec<Finding> {
    let is_confirmed = |subscription: &&Value| {
        text(subscription, "SubscriptionArn").is_some_and(|arn| arn.starts_with(ARN_PREFIX))
    };
    let (confirmed, pending): (Vec<_>, Vec<_>) = subscriptions.iter().partition(is_confirmed);
    let count = format!("{} confirmed", confirmed.len());
    let confirmed = (!confirmed.is_empty()).then(|| Finding::ok(CHECK, count));
    let pending = pending.into_iter().map(|subscription| {
        let endpoint = text_or_empty(subscription, "Endpoint");
        Finding::warning(CHECK, format!("'{endpoint}' has not confirmed its subscription"))
            .remedy("open the link in the message that AWS sent to this address")
            .section(section::DEPLOY)
    });
    confirmed.into_iter().chain(pending).collect()
}

/// The command that subscribes someone. CloudFormation subscribes an address only once, so
/// redeploying with the same address changes nothing.
fn subscribe(topic: &str, address: Option<&str>, remedies: &Remedies) -> String {
    match address {
        None => remedies.set_parameter(ADDRESS_PARAMETER, "ADDRESS"),
        Some(address) => format!(
            "aws sns subscribe --topic-arn {topic} --protocol email --notification-endpoint {}",
            quote(address)
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn firing_silent_and_missing_alarms_and_pending_subscriptions_are_reported() {
        let alarms = vec![
            json!({ "AlarmName": "well", "StateValue": "OK", "ActionsEnabled": "true", "AlarmActions": ["arn:x"] }),
            json!({ "AlarmName": "bad", "StateValue": "ALARM", "StateReason": "2 datapoints",
                "AlarmDescription": "numbers: DynamoDB fails; see 'Database' in OPERATIONS.md", "ActionsEnabled": "false" }),
        ];
        let subscription = |endpoint, arn| json!({ "Endpoint": endpoint, "SubscriptionArn": arn });
        let subscriptions = vec![
            subscription("a@example.com", "PendingConfirmation"),
            subscription("b@example.com", "arn:aws:sns:x"),
            subscription("c@example.com", "Deleted"),
        ];
        let facts = AlarmFacts {
            names: ["well", "bad", "gone"].map(str::to_owned).to_vec(),
            alarms: Ok(alarms),
            topics: [("arn:x", subscriptions), ("arn:y", Vec::new())]
                .map(|(topic, subscriptions)| (topic.to_owned(), Ok(subscriptions)))
                .into(),
            address: Some("me@example.com".to_owned()),
        };
        let findings = findings(&facts, &Remedies::for_stack("numbers"));
        let lines: Vec<String> = findings
            .iter()
            .map(|it| format!("{} {}: {}", it.state.word(), it.check, it.message))
            .collect();
        assert_eq!(
            lines,
            [
                "ok alarms: 1 of 3 are OK",
                "problem bad: firing: 2 datapoints",
                "warning bad: its actions are disabled, so it notifies nobody",
                "warning bad: it has no actions, so it notifies nobody",
                "problem gone: the alarm has been deleted",
                "ok subscriptions: 1 confirmed",
                "warning subscriptions: 'a@example.com' has not confirmed its subscription",
                "warning subscriptions: 'c@example.com' has not confirmed its subscription",
                "warning subscriptions: alarms notify nobody",
            ]
        );
        assert_eq!(findings[1].section.as_deref(), Some("Database"));
        let subscribe = "aws sns subscribe --topic-arn arn:y --protocol email \
                         --notification-endpoint me@example.com";
        assert_eq!(findings[8].remedy.as_deref(), Some(subscribe));
    }
}
