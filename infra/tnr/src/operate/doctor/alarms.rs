//! Alarms and their subscribers.

use serde_json::Value;
use signed_requests::{AwsAccount, Service};

use super::{
    Findings, Remedies,
    aws::{members, query, text},
    finding::{Finding, section},
    stack_description::Stack,
};
use crate::{CliError, terminal::next_commands::quote};

const CHECK: &str = "subscriptions";
/// More than the template's alarms.
const MAX_ALARMS: usize = 100;
const ADDRESS_PARAMETER: &str = "AlarmEmail";

pub async fn check(account: &AwsAccount, stack: &Stack, remedies: &Remedies) -> Findings {
    let names = stack.physical_names("AWS::CloudWatch::Alarm");
    let alarms = describe(account, &names).await?;
    let mut findings = alarm_findings(&names, &alarms, remedies);
    for topic in stack.physical_names("AWS::SNS::Topic") {
        let parameters = [("TopicArn".to_owned(), topic.to_owned())];
        let sns = (Service::Sns, "2010-03-31");
        let result = query(account, sns, "ListSubscriptionsByTopic", &parameters).await?;
        let address = stack.parameter(ADDRESS_PARAMETER);
        let subscriptions = members(&result, "Subscriptions");
        findings.extend(subscription_findings(topic, subscriptions, address, remedies));
    }
    Ok(findings)
}

async fn describe(account: &AwsAccount, names: &[&str]) -> Result<Vec<Value>, CliError> {
    // Without names, CloudWatch returns every alarm of the account.
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let numbered = (1..).zip(names);
    let names = numbered.map(|(index, name)| (format!("AlarmNames.member.{index}"), *name));
    let count = [("MaxRecords".to_owned(), MAX_ALARMS.to_string())];
    let parameters = names.map(|(name, value)| (name, value.to_owned())).chain(count);
    let parameters: Vec<(String, String)> = parameters.collect();
    let cloudwatch = (Service::CloudWatch, "2010-08-01");
    let result = query(account, cloudwatch, "DescribeAlarms", &parameters).await?;
    Ok(members(&result, "MetricAlarms").to_vec())
}

fn alarm_findings(names: &[&str], alarms: &[Value], remedies: &Remedies) -> Vec<Finding> {
    let ok = alarms.iter().filter(|alarm| alarm["StateValue"] == "OK").count();
    let mut findings = vec![Finding::ok("alarms", format!("{ok} of {} are OK", names.len()))];
    findings.extend(alarms.iter().flat_map(findings_for_alarm));
    let is_deleted = |name: &&&str| !alarms.iter().any(|alarm| alarm["AlarmName"] == ***name);
    findings.extend(names.iter().filter(is_deleted).map(|name| {
        Finding::problem(*name, "the alarm has been deleted")
            .remedy(remedies.deploy())
            .section(section::ALARMS)
    }));
    findings
}

fn findings_for_alarm(alarm: &Value) -> Vec<Finding> {
    let (name, reason) = (text(alarm, "AlarmName"), text(alarm, "StateReason"));
    // Each alarm's description ends with a heading.
    let section = text(alarm, "AlarmDescription").rsplit_once("see '");
    let section = section.and_then(|it| it.1.strip_suffix("' in OPERATIONS.md"));
    let section = section.unwrap_or(section::ALARMS);
    let mut findings = Vec::new();
    match text(alarm, "StateValue") {
        "OK" => (),
        "ALARM" => {
            findings.push(Finding::problem(name, format!("firing: {reason}")).section(section));
        }
        // New alarms have this state until their metric has data.
        state => findings.push(Finding::note(name, format!("{state}: {reason}")).section(section)),
    }
    if alarm["ActionsEnabled"] != "true" {
        findings.push(
            Finding::warning(name, "its actions are disabled, so it notifies nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section(section::ALARMS),
        );
    }
    if members(alarm, "AlarmActions").is_empty() {
        let message = "it has no actions, so it notifies nobody";
        findings.push(Finding::warning(name, message).section(section::ALARMS));
    }
    findings
}

fn subscription_findings(
    topic: &str,
    subscriptions: &[Value],
    address: Option<&str>,
    remedies: &Remedies,
) -> Vec<Finding> {
    if subscriptions.is_empty() {
        let finding = Finding::warning(CHECK, "alarms notify nobody");
        return vec![finding.remedy(subscribe(topic, address, remedies)).section(section::DEPLOY)];
    }
    let finding = |subscription: &Value| {
        let endpoint = text(subscription, "Endpoint");
        // Others are `PendingConfirmation` or `Deleted`.
        if text(subscription, "SubscriptionArn").starts_with("arn:") {
            return Finding::ok(CHECK, format!("'{endpoint}' is notified"));
        }
        Finding::warning(CHECK, format!("'{endpoint}' has not confirmed its subscription"))
            .remedy("open the link in the message that AWS sent to this address")
            .section(section::DEPLOY)
    };
    subscriptions.iter().map(finding).collect()
}

/// The command that subscribes someone. CloudFormation subscribes an address only once, so
/// redeploying with the same address changes nothing.
fn subscribe(topic: &str, address: Option<&str>, remedies: &Remedies) -> String {
    match address {
        None => format!("{} --parameter-overrides {ADDRESS_PARAMETER}=ADDRESS", remedies.deploy()),
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
        let alarms = [
            json!({ "AlarmName": "well", "StateValue": "OK", "ActionsEnabled": "true", "AlarmActions": ["arn:x"] }),
            json!({ "AlarmName": "bad", "StateValue": "ALARM", "StateReason": "2 datapoints",
                "AlarmDescription": "numbers: DynamoDB fails; see 'Database' in OPERATIONS.md", "ActionsEnabled": "false" }),
        ];
        let subscription = |endpoint, arn| json!({ "Endpoint": endpoint, "SubscriptionArn": arn });
        let subscriptions = [
            subscription("a@example.com", "PendingConfirmation"),
            subscription("b@example.com", "arn:aws:sns:x"),
            subscription("c@example.com", "Deleted"),
        ];
        let (remedies, address) = (Remedies::for_stack("numbers"), Some("me@example.com"));
        let mut findings = alarm_findings(&["well", "bad", "gone"], &alarms, &remedies);
        findings.extend(subscription_findings("arn:x", &subscriptions, address, &remedies));
        findings.extend(subscription_findings("arn:y", &[], address, &remedies));
        let lines: Vec<String> = findings.iter().map(Finding::line).collect();
        assert_eq!(
            lines,
            [
                "ok alarms: 1 of 3 are OK",
                "problem bad: firing: 2 datapoints",
                "warning bad: its actions are disabled, so it notifies nobody",
                "warning bad: it has no actions, so it notifies nobody",
                "problem gone: the alarm has been deleted",
                "warning subscriptions: 'a@example.com' has not confirmed its subscription",
                "ok subscriptions: 'b@example.com' is notified",
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
