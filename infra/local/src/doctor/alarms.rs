//! The alarms, and whether they reach somebody.

use roxmltree::Document;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, query, result, text, unreadable},
    finding::{Finding, Section},
    look::Look,
    remedies::Remedies,
    stack::StackFacts,
};
use crate::next_commands::quoted;

const ALARM_TYPE: &str = "AWS::CloudWatch::Alarm";
const TOPIC_TYPE: &str = "AWS::SNS::Topic";
/// The most names that one call may ask for.
const NAMES_PER_CALL: usize = 100;
/// How the name of a subscription begins. In its place SNS gives `PendingConfirmation` before it is
/// confirmed, and `Deleted` after it has ended.
const NAME_BEGINNING: &str = "arn:";
/// The parameter of the template with the address that is told of alarms.
const ADDRESS_PARAMETER: &str = "AlarmEmail";

/// The alarms of the stack and the subscriptions to their topics.
#[derive(Debug)]
pub struct AlarmFacts {
    /// The alarms that the stack has, of which some may be gone.
    pub names: Vec<String>,
    pub alarms: Look<Vec<Alarm>>,
    pub topics: Vec<Topic>,
    /// The address that the stack was given to tell.
    pub address: Option<String>,
}

/// An alarm as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alarm {
    pub name: String,
    pub description: String,
    pub state: String,
    pub reason: String,
    pub is_enabled: bool,
    pub has_action: bool,
}

/// A topic: who is told what is sent to it.
#[derive(Debug)]
pub struct Topic {
    pub arn: String,
    pub subscriptions: Look<Vec<Subscription>>,
}

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub endpoint: String,
    pub is_confirmed: bool,
}

/// Reads the alarms and the subscriptions to the topics of the stack.
pub async fn look(account: &AwsAccount, stack: &StackFacts) -> AlarmFacts {
    let names = stack.physical_names(ALARM_TYPE);
    let alarms = look_at_alarms(account, &names).await;
    let mut topics = Vec::new();
    for arn in stack.physical_names(TOPIC_TYPE) {
        let subscriptions = look_at_subscriptions(account, &arn).await;
        topics.push(Topic { arn, subscriptions });
    }
    let address = stack.parameters.get(ADDRESS_PARAMETER).filter(|address| !address.is_empty());
    AlarmFacts { names, alarms, topics, address: address.cloned() }
}

async fn look_at_alarms(account: &AwsAccount, names: &[String]) -> Look<Vec<Alarm>> {
    let mut alarms = Vec::new();
    for names in names.chunks(NAMES_PER_CALL) {
        let numbered = (1..).zip(names);
        let mut parameters: Vec<(String, String)> = numbered
            .map(|(number, name)| (format!("AlarmNames.member.{number}"), name.clone()))
            .collect();
        parameters.push(("MaxRecords".to_owned(), NAMES_PER_CALL.to_string()));
        let (service, version) = (Service::CloudWatch, "2010-08-01");
        let answer = query(account, service, version, "DescribeAlarms", &parameters).await?;
        alarms.extend(read_alarms(&answer)?);
    }
    Ok(alarms)
}

fn read_alarms(answer: &str) -> Look<Vec<Alarm>> {
    let document =
        Document::parse(answer).map_err(unreadable(Service::CloudWatch, "DescribeAlarms"))?;
    let result = result(&document, "DescribeAlarmsResult").into_iter();
    let read = |alarm| {
        let field = |name: &str| text(alarm, name).unwrap_or_default();
        Alarm {
            name: field("AlarmName"),
            description: field("AlarmDescription"),
            state: field("StateValue"),
            reason: field("StateReason"),
            is_enabled: field("ActionsEnabled") == "true",
            has_action: !members(alarm, "AlarmActions").is_empty(),
        }
    };
    Ok(result.flat_map(|result| members(result, "MetricAlarms")).map(read).collect())
}

async fn look_at_subscriptions(account: &AwsAccount, topic: &str) -> Look<Vec<Subscription>> {
    let parameters = [("TopicArn".to_owned(), topic.to_owned())];
    let (service, version) = (Service::Sns, "2010-03-31");
    let answer = query(account, service, version, "ListSubscriptionsByTopic", &parameters).await?;
    read_subscriptions(&answer)
}

fn read_subscriptions(answer: &str) -> Look<Vec<Subscription>> {
    const OPERATION: &str = "ListSubscriptionsByTopic";
    let document = Document::parse(answer).map_err(unreadable(Service::Sns, OPERATION))?;
    let result = result(&document, "ListSubscriptionsByTopicResult").into_iter();
    let read = |subscription| Subscription {
        endpoint: text(subscription, "Endpoint").unwrap_or_default(),
        is_confirmed: text(subscription, "SubscriptionArn")
            .is_some_and(|arn| arn.starts_with(NAME_BEGINNING)),
    };
    Ok(result.flat_map(|result| members(result, "Subscriptions")).map(read).collect())
}

/// What is to be said of the alarms.
pub fn findings(facts: &AlarmFacts, remedies: &Remedies) -> Vec<Finding> {
    let mut findings = match &facts.alarms {
        Ok(alarms) => of_alarms(&facts.names, alarms, remedies),
        Err(error) => vec![error.finding("alarms")],
    };
    let address = facts.address.as_deref();
    findings.extend(facts.topics.iter().flat_map(|topic| of_topic(topic, address, remedies)));
    findings
}

fn of_alarms(names: &[String], alarms: &[Alarm], remedies: &Remedies) -> Vec<Finding> {
    let mut findings: Vec<Finding> = alarms.iter().flat_map(of_alarm).collect();
    let is_gone = |name: &&String| !alarms.iter().any(|alarm| alarm.name == **name);
    findings.extend(names.iter().filter(is_gone).map(|name| {
        Finding::problem(name, "the alarm has been deleted")
            .remedy(remedies.deploy())
            .section(Section::Alarms)
    }));
    let quiet = alarms.iter().filter(|alarm| alarm.state == "OK").count();
    let of = names.len();
    findings.insert(0, Finding::ok("alarms", format!("{quiet} of {of} are quiet")));
    findings
}

fn of_alarm(alarm: &Alarm) -> Vec<Finding> {
    let name = alarm.name.as_str();
    let mut findings = Vec::new();
    let about = |finding: Finding| match section_of(&alarm.description) {
        Some(section) => finding.heading(section),
        None => finding.section(Section::Alarms),
    };
    match alarm.state.as_str() {
        "OK" => (),
        "ALARM" => findings.push(about(Finding::problem(name, format!("on: {}", alarm.reason)))),
        // A new alarm has this state until its metric has had values.
        state => findings.push(about(Finding::note(name, format!("{state}: {}", alarm.reason)))),
    }
    if !alarm.is_enabled {
        findings.push(
            Finding::warning(name, "its actions are switched off, so that it tells nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section(Section::Alarms),
        );
    }
    if !alarm.has_action {
        let message = "it has no action, so that it tells nobody";
        findings.push(Finding::warning(name, message).section(Section::Alarms));
    }
    findings
}

/// The heading that the description of an alarm leads to.
fn section_of(description: &str) -> Option<&str> {
    let (_, heading) = description.rsplit_once("OPERATIONS.md, ")?;
    Some(heading.trim())
}

fn of_topic(topic: &Topic, address: Option<&str>, remedies: &Remedies) -> Vec<Finding> {
    let check = "subscriptions";
    let subscriptions = match &topic.subscriptions {
        Ok(subscriptions) => subscriptions,
        Err(error) => return vec![error.finding(check)],
    };
    let (confirmed, pending): (Vec<_>, Vec<_>) =
        subscriptions.iter().partition(|subscription| subscription.is_confirmed);
    let mut findings: Vec<Finding> = pending
        .iter()
        .map(|Subscription { endpoint, .. }| {
            Finding::warning(check, format!("'{endpoint}' has not confirmed its subscription"))
                .remedy("open the link in the message that AWS sent to this address")
                .section(Section::Deploy)
        })
        .collect();
    if !confirmed.is_empty() {
        let told = confirmed.len();
        findings.insert(0, Finding::ok(check, format!("{told} are told of alarms")));
    } else if pending.is_empty() {
        findings.push(
            Finding::warning(check, "nobody is told of alarms")
                .remedy(subscribe(topic, address, remedies))
                .section(Section::Deploy),
        );
    }
    findings
}

/// How to have somebody told. CloudFormation subscribes an address once: a deployment with the address
/// that the stack has already changes nothing.
fn subscribe(topic: &Topic, address: Option<&str>, remedies: &Remedies) -> String {
    match address {
        None => remedies.set_parameter(ADDRESS_PARAMETER, "ADDRESS"),
        Some(address) => format!(
            "aws sns subscribe --topic-arn {} --protocol email --notification-endpoint {}",
            topic.arn,
            quoted(address)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    const ALARMS: &str = r#"<DescribeAlarmsResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/">
      <DescribeAlarmsResult><MetricAlarms>
        <member><AlarmName>quiet</AlarmName><StateValue>OK</StateValue><ActionsEnabled>true</ActionsEnabled>
          <AlarmActions><member>arn:aws:sns:us-east-1:1:t</member></AlarmActions></member>
        <member><AlarmName>loud</AlarmName><StateValue>ALARM</StateValue><StateReason>2 datapoints</StateReason>
          <AlarmDescription>numbers: DynamoDB fails; see OPERATIONS.md, Database</AlarmDescription>
          <ActionsEnabled>false</ActionsEnabled><AlarmActions/></member>
      </MetricAlarms></DescribeAlarmsResult></DescribeAlarmsResponse>"#;

    fn found(alarms: Look<Vec<Alarm>>, subscriptions: &[(&str, bool)]) -> Vec<Finding> {
        let subscriptions = subscriptions.iter().map(|(endpoint, is_confirmed)| Subscription {
            endpoint: (*endpoint).to_owned(),
            is_confirmed: *is_confirmed,
        });
        let subscriptions = Ok(subscriptions.collect());
        let facts = AlarmFacts {
            names: ["quiet", "loud", "gone"].map(str::to_owned).to_vec(),
            alarms,
            topics: vec![Topic { arn: "arn:aws:sns:us-east-1:1:t".to_owned(), subscriptions }],
            address: None,
        };
        findings(&facts, &Remedies::of_stack("numbers"))
    }

    #[test]
    fn alarms_that_are_on_silent_or_gone_are_named() {
        let found = found(read_alarms(ALARMS), &[("a@example.com", true)]);
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
            ]
        );
        assert_eq!(found[1].section.as_deref(), Some("Database"));
    }

    #[test]
    fn an_address_that_nobody_confirmed_and_a_topic_without_any_are_warnings() {
        let states = |subscriptions: &[(&str, bool)]| {
            let found = found(Ok(Vec::new()), subscriptions).into_iter();
            let about = found.filter(|finding| finding.check == "subscriptions");
            about.map(|finding| finding.state).collect::<Vec<_>>()
        };
        assert_eq!(states(&[("a@example.com", false)]), [State::Warning]);
        assert_eq!(states(&[]), [State::Warning]);
        assert_eq!(states(&[("a", true), ("b", false)]), [State::Ok, State::Warning]);
    }

    #[test]
    fn an_address_that_the_stack_has_already_is_subscribed_again_by_hand() {
        let topic =
            Topic { arn: "arn:aws:sns:us-east-1:1:t".into(), subscriptions: Ok(Vec::new()) };
        let remedy = |address| {
            let found = of_topic(&topic, address, &Remedies::of_stack("numbers"));
            found[0].remedy.clone().unwrap()
        };
        let set = "sam deploy --stack-name numbers --parameter-overrides AlarmEmail=ADDRESS";
        assert_eq!(remedy(None), set);
        assert_eq!(
            remedy(Some("me@example.com")),
            "aws sns subscribe --topic-arn arn:aws:sns:us-east-1:1:t --protocol email \
             --notification-endpoint me@example.com"
        );
    }

    #[test]
    fn a_subscription_is_confirmed_as_long_as_it_has_a_name() {
        let answer = r#"<ListSubscriptionsByTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">
          <ListSubscriptionsByTopicResult><Subscriptions>
          <member><Endpoint>a@example.com</Endpoint><SubscriptionArn>PendingConfirmation</SubscriptionArn></member>
          <member><Endpoint>b@example.com</Endpoint><SubscriptionArn>arn:aws:sns:x</SubscriptionArn></member>
          <member><Endpoint>c@example.com</Endpoint><SubscriptionArn>Deleted</SubscriptionArn></member>
          </Subscriptions></ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>"#;
        let confirmed: Vec<bool> =
            read_subscriptions(answer).unwrap().iter().map(|s| s.is_confirmed).collect();
        assert_eq!(confirmed, [false, true, false]);
    }
}
