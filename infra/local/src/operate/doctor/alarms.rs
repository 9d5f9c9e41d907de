//! Alarms and their subscribers.

use serde_json::Value;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, query, text, text_or_empty},
    examined::Examined,
    finding::{Finding, section},
    remedies::Remedies,
    stack_facts::StackFacts,
};
use crate::terminal::next_commands::quoted;

/// The check for subscriptions.
const CHECK: &str = "subscriptions";
/// Maximum names per call.
const NAMES_PER_CALL: usize = 100;
/// The start of a confirmed subscription's ARN. SNS returns `PendingConfirmation`
/// before confirmation, and `Deleted` after removal.
const NAME_BEGINNING: &str = "arn:";
/// The template parameter with the address for alarms.
const ADDRESS_PARAMETER: &str = "AlarmEmail";

/// Facts about a stack's alarms and the subscriptions to their topics.
#[derive(Debug)]
pub struct AlarmFacts {
    /// The stack's alarms, including deleted ones.
    names: Vec<String>,
    alarms: Examined<Vec<Value>>,
    /// Subscriptions by topic.
    topics: Vec<(String, Examined<Vec<Value>>)>,
    /// The stack's address for alarms.
    address: Option<String>,
}

/// Reads the stack's alarms and topic subscriptions.
pub async fn look(account: &AwsAccount, stack: &StackFacts) -> AlarmFacts {
    let names = stack.physical_names("AWS::CloudWatch::Alarm");
    let alarms = look_at_alarms(account, &names).await;
    let mut topics = Vec::new();
    for arn in stack.physical_names("AWS::SNS::Topic") {
        let parameters = [("TopicArn".to_owned(), arn.clone())];
        let (service, version) = (Service::Sns, "2010-03-31");
        let answer = query(account, service, version, "ListSubscriptionsByTopic", &parameters);
        let subscriptions = answer.await.map(|answer| members(&answer, "Subscriptions").to_vec());
        topics.push((arn, subscriptions));
    }
    let address = stack.parameter(ADDRESS_PARAMETER).map(str::to_owned);
    AlarmFacts { names, alarms, topics, address }
}

async fn look_at_alarms(account: &AwsAccount, names: &[String]) -> Examined<Vec<Value>> {
    let mut alarms = Vec::new();
    for names in names.chunks(NAMES_PER_CALL) {
        let numbered = (1..).zip(names);
        let mut parameters: Vec<(String, String)> = numbered
            .map(|(number, name)| (format!("AlarmNames.member.{number}"), name.clone()))
            .collect();
        parameters.push(("MaxRecords".to_owned(), NAMES_PER_CALL.to_string()));
        let (service, version) = (Service::CloudWatch, "2010-08-01");
        let answer = query(account, service, version, "DescribeAlarms", &parameters).await?;
        alarms.extend_from_slice(members(&answer, "MetricAlarms"));
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
            Ok(subscriptions) if subscriptions.is_empty() => {
                let subscribe = subscribe(topic, address.as_deref(), remedies);
                let nobody = Finding::warning(CHECK, "nobody is told of alarms").remedy(subscribe);
                findings.push(nobody.section(section::DEPLOY));
            }
            Ok(subscriptions) => findings.extend(subscription_findings(subscriptions)),
            Err(error) => findings.push(error.finding(CHECK)),
        }
    }
    findings
}

fn alarm_findings(names: &[String], alarms: &[Value], remedies: &Remedies) -> Vec<Finding> {
    let quiet = alarms.iter().filter(|alarm| alarm["StateValue"] == "OK").count();
    let of = names.len();
    let mut findings = vec![Finding::ok("alarms", format!("{quiet} of {of} are quiet"))];
    findings.extend(alarms.iter().flat_map(findings_about_alarm));
    let is_gone = |name: &&String| !alarms.iter().any(|alarm| alarm["AlarmName"] == **name);
    findings.extend(names.iter().filter(is_gone).map(|name| {
        Finding::problem(name, "the alarm has been deleted")
            .remedy(remedies.deploy())
            .section(section::ALARMS)
    }));
    findings
}

fn findings_about_alarm(alarm: &Value) -> Vec<Finding> {
    let field = |name: &str| text_or_empty(alarm, name);
    let (name, description, reason) =
        (field("AlarmName"), field("AlarmDescription"), field("StateReason"));
    // Each alarm's description links to a section.
    let section =
        description.rsplit_once("OPERATIONS.md, ").map_or(section::ALARMS, |it| it.1.trim());
    let mut findings = Vec::new();
    match field("StateValue").as_str() {
        "OK" => (),
        "ALARM" => {
            findings.push(Finding::problem(&name, format!("on: {reason}")).section(section));
        }
        // New alarms have this state until their metric has data.
        state => findings.push(Finding::note(&name, format!("{state}: {reason}")).section(section)),
    }
    if alarm["ActionsEnabled"] != "true" {
        findings.push(
            Finding::warning(&name, "its actions are switched off, so that it tells nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section(section::ALARMS),
        );
    }
    if members(alarm, "AlarmActions").is_empty() {
        let message = "it has no action, so that it tells nobody";
        findings.push(Finding::warning(&name, message).section(section::ALARMS));
    }
    findings
}

fn subscription_findings(subscriptions: &[Value]) -> Vec<Finding> {
    let is_confirmed = |it: &&Value| {
        text(it, "SubscriptionArn").is_some_and(|arn| arn.starts_with(NAME_BEGINNING))
    };
    let (confirmed, pending): (Vec<&Value>, Vec<_>) = subscriptions.iter().partition(is_confirmed);
    let told = format!("{} are told of alarms", confirmed.len());
    let told = (!confirmed.is_empty()).then(|| Finding::ok(CHECK, told));
    let pending = pending.into_iter().map(|subscription| {
        let endpoint = text_or_empty(subscription, "Endpoint");
        Finding::warning(CHECK, format!("'{endpoint}' has not confirmed its subscription"))
            .remedy("open the link in the message that AWS sent to this address")
            .section(section::DEPLOY)
    });
    told.into_iter().chain(pending).collect()
}

/// The command that subscribes someone. CloudFormation subscribes an address only once, so
/// redeploying with the same address changes nothing.
fn subscribe(topic: &str, address: Option<&str>, remedies: &Remedies) -> String {
    match address {
        None => remedies.set_parameter(ADDRESS_PARAMETER, "ADDRESS"),
        Some(address) => format!(
            "aws sns subscribe --topic-arn {topic} --protocol email --notification-endpoint {}",
            quoted(address)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::doctor::aws::json_of_xml;

    const ALARMS_ANSWER: &str = r#"<MetricAlarms xmlns="x">
        <member><AlarmName>quiet</AlarmName><StateValue>OK</StateValue><ActionsEnabled>true</ActionsEnabled>
          <AlarmActions><member>arn:aws:sns:us-east-1:1:t</member></AlarmActions></member>
        <member><AlarmName>loud</AlarmName><StateValue>ALARM</StateValue><StateReason>2 datapoints</StateReason>
          <AlarmDescription>numbers: DynamoDB fails; see OPERATIONS.md, Database</AlarmDescription>
          <ActionsEnabled>false</ActionsEnabled><AlarmActions/></member>
      </MetricAlarms>"#;
    const SUBSCRIPTIONS_ANSWER: &str = r#"<Subscriptions xmlns="x">
      <member><Endpoint>a@example.com</Endpoint><SubscriptionArn>PendingConfirmation</SubscriptionArn></member>
      <member><Endpoint>b@example.com</Endpoint><SubscriptionArn>arn:aws:sns:x</SubscriptionArn></member>
      <member><Endpoint>c@example.com</Endpoint><SubscriptionArn>Deleted</SubscriptionArn></member>
      </Subscriptions>"#;

    #[test]
    fn firing_silent_and_missing_alarms_and_pending_subscriptions_are_reported() {
        let list = |xml: &str| Ok(json_of_xml(xml).unwrap().as_array().unwrap().clone());
        let facts = AlarmFacts {
            names: ["quiet", "loud", "gone"].map(str::to_owned).to_vec(),
            alarms: list(ALARMS_ANSWER),
            topics: vec![("arn:x".to_owned(), list(SUBSCRIPTIONS_ANSWER))],
            address: None,
        };
        let found = findings(&facts, &Remedies::for_stack("numbers"));
        let said: Vec<String> = found
            .iter()
            .map(|finding| format!("{:?} {}: {}", finding.state, finding.check, finding.message))
            .collect();
        assert_eq!(
            said,
            [
                "Ok alarms: 1 of 3 are quiet",
                "Problem loud: on: 2 datapoints",
                "Warning loud: its actions are switched off, so that it tells nobody",
                "Warning loud: it has no action, so that it tells nobody",
                "Problem gone: the alarm has been deleted",
                "Ok subscriptions: 1 are told of alarms",
                "Warning subscriptions: 'a@example.com' has not confirmed its subscription",
                "Warning subscriptions: 'c@example.com' has not confirmed its subscription",
            ]
        );
        assert_eq!(found[1].section.as_deref(), Some("Database"));
    }

    #[test]
    fn known_address_is_subscribed_by_hand() {
        let topic = "arn:aws:sns:us-east-1:1:t";
        let remedy = |address| subscribe(topic, address, &Remedies::for_stack("numbers"));
        let set = "sam deploy --stack-name numbers --parameter-overrides AlarmEmail=ADDRESS";
        assert_eq!(remedy(None), set);
        assert_eq!(
            remedy(Some("me@example.com")),
            "aws sns subscribe --topic-arn arn:aws:sns:us-east-1:1:t --protocol email \
             --notification-endpoint me@example.com"
        );
    }
}
