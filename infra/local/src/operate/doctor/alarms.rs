//! Alarms and their subscribers.

use roxmltree::Node;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, parse, query, result, text},
    examined::Examined,
    finding::{Finding, section},
    remedies::Remedies,
    stack_facts::StackFacts,
};
use crate::terminal::next_commands::quoted;

const ALARMS: &str = "DescribeAlarms";
const SUBSCRIPTIONS: &str = "ListSubscriptionsByTopic";
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
    alarms: Examined<Vec<String>>,
    /// Subscriptions by topic.
    topics: Vec<(String, Examined<String>)>,
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
        let answer = query(account, service, version, SUBSCRIPTIONS, &parameters).await;
        topics.push((arn, answer));
    }
    let address = stack.parameter(ADDRESS_PARAMETER).map(str::to_owned);
    AlarmFacts { names, alarms, topics, address }
}

async fn look_at_alarms(account: &AwsAccount, names: &[String]) -> Examined<Vec<String>> {
    let mut answers = Vec::new();
    for names in names.chunks(NAMES_PER_CALL) {
        let numbered = (1..).zip(names);
        let mut parameters: Vec<(String, String)> = numbered
            .map(|(number, name)| (format!("AlarmNames.member.{number}"), name.clone()))
            .collect();
        parameters.push(("MaxRecords".to_owned(), NAMES_PER_CALL.to_string()));
        let (service, version) = (Service::CloudWatch, "2010-08-01");
        answers.push(query(account, service, version, ALARMS, &parameters).await?);
    }
    Ok(answers)
}

pub fn findings(facts: &AlarmFacts, remedies: &Remedies) -> Vec<Finding> {
    let AlarmFacts { names, alarms, topics, address } = facts;
    let alarms = alarms.as_ref().map_or_else(
        |error| vec![error.finding("alarms")],
        |answers| {
            alarm_findings(names, answers, remedies)
                .unwrap_or_else(|error| vec![error.finding("alarms")])
        },
    );
    let topics = topics.iter().flat_map(|(topic, answer)| match answer {
        Ok(answer) => {
            let subscribe = || subscribe(topic, address.as_deref(), remedies);
            topic_findings(answer, subscribe).unwrap_or_else(|error| vec![error.finding(CHECK)])
        }
        Err(error) => vec![error.finding(CHECK)],
    });
    alarms.into_iter().chain(topics).collect()
}

fn alarm_findings(
    names: &[String],
    answers: &[String],
    remedies: &Remedies,
) -> Examined<Vec<Finding>> {
    let mut findings = Vec::new();
    let (mut present, mut quiet) = (Vec::new(), 0);
    for answer in answers {
        let document = parse(ALARMS, answer)?;
        for alarm in result(&document).map_or(Vec::new(), |it| members(it, "MetricAlarms")) {
            let name = text(alarm, "AlarmName").unwrap_or_default();
            quiet += usize::from(text(alarm, "StateValue").as_deref() == Some("OK"));
            findings.extend(findings_about_alarm(&name, alarm));
            present.push(name);
        }
    }
    let gone = names.iter().filter(|name| !present.contains(name));
    findings.extend(gone.map(|name| {
        Finding::problem(name, "the alarm has been deleted")
            .remedy(remedies.deploy())
            .section(section::ALARMS)
    }));
    let of = names.len();
    findings.insert(0, Finding::ok("alarms", format!("{quiet} of {of} are quiet")));
    Ok(findings)
}

fn findings_about_alarm(name: &str, alarm: Node<'_, '_>) -> Vec<Finding> {
    let field = |name: &str| text(alarm, name).unwrap_or_default();
    let (description, reason) = (field("AlarmDescription"), field("StateReason"));
    // Each alarm's description links to a section.
    let section =
        description.rsplit_once("OPERATIONS.md, ").map_or(section::ALARMS, |it| it.1.trim());
    let mut findings = Vec::new();
    match field("StateValue").as_str() {
        "OK" => (),
        "ALARM" => {
            findings.push(Finding::problem(name, format!("on: {reason}")).section(section));
        }
        // New alarms have this state until their metric has data.
        state => findings.push(Finding::note(name, format!("{state}: {reason}")).section(section)),
    }
    if field("ActionsEnabled") != "true" {
        findings.push(
            Finding::warning(name, "its actions are switched off, so that it tells nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section(section::ALARMS),
        );
    }
    if members(alarm, "AlarmActions").is_empty() {
        let message = "it has no action, so that it tells nobody";
        findings.push(Finding::warning(name, message).section(section::ALARMS));
    }
    findings
}

fn topic_findings(answer: &str, subscribe: impl Fn() -> String) -> Examined<Vec<Finding>> {
    let document = parse(SUBSCRIPTIONS, answer)?;
    let subscriptions = result(&document).map_or(Vec::new(), |it| members(it, "Subscriptions"));
    if subscriptions.is_empty() {
        let nobody = Finding::warning(CHECK, "nobody is told of alarms").remedy(subscribe());
        return Ok(vec![nobody.section(section::DEPLOY)]);
    }
    let (confirmed, pending): (Vec<_>, Vec<_>) = subscriptions.into_iter().partition(|it| {
        text(*it, "SubscriptionArn").is_some_and(|arn| arn.starts_with(NAME_BEGINNING))
    });
    let mut findings = Vec::new();
    if !confirmed.is_empty() {
        findings.push(Finding::ok(CHECK, format!("{} are told of alarms", confirmed.len())));
    }
    findings.extend(pending.into_iter().map(|subscription| {
        let endpoint = text(subscription, "Endpoint").unwrap_or_default();
        Finding::warning(CHECK, format!("'{endpoint}' has not confirmed its subscription"))
            .remedy("open the link in the message that AWS sent to this address")
            .section(section::DEPLOY)
    }));
    Ok(findings)
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

    const ALARMS_ANSWER: &str = r#"<DescribeAlarmsResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/">
      <DescribeAlarmsResult><MetricAlarms>
        <member><AlarmName>quiet</AlarmName><StateValue>OK</StateValue><ActionsEnabled>true</ActionsEnabled>
          <AlarmActions><member>arn:aws:sns:us-east-1:1:t</member></AlarmActions></member>
        <member><AlarmName>loud</AlarmName><StateValue>ALARM</StateValue><StateReason>2 datapoints</StateReason>
          <AlarmDescription>numbers: DynamoDB fails; see OPERATIONS.md, Database</AlarmDescription>
          <ActionsEnabled>false</ActionsEnabled><AlarmActions/></member>
      </MetricAlarms></DescribeAlarmsResult></DescribeAlarmsResponse>"#;
    const SUBSCRIPTIONS_ANSWER: &str = r#"<ListSubscriptionsByTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">
      <ListSubscriptionsByTopicResult><Subscriptions>
      <member><Endpoint>a@example.com</Endpoint><SubscriptionArn>PendingConfirmation</SubscriptionArn></member>
      <member><Endpoint>b@example.com</Endpoint><SubscriptionArn>arn:aws:sns:x</SubscriptionArn></member>
      <member><Endpoint>c@example.com</Endpoint><SubscriptionArn>Deleted</SubscriptionArn></member>
      </Subscriptions></ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>"#;

    #[test]
    fn firing_silent_and_missing_alarms_and_pending_subscriptions_are_reported() {
        let facts = AlarmFacts {
            names: ["quiet", "loud", "gone"].map(str::to_owned).to_vec(),
            alarms: Ok(vec![ALARMS_ANSWER.to_owned()]),
            topics: vec![("arn:x".to_owned(), Ok(SUBSCRIPTIONS_ANSWER.to_owned()))],
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
