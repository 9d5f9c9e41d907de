//! The alarms, and the people who are told of them.

use signed_requests::{AwsAccount, Service};

use super::{
    aws::{members, parse, query, result, text},
    finding::{Finding, section},
    look::Look,
    remedies::Remedies,
    stack::StackFacts,
};
use crate::next_commands::quoted;

/// The most names that one call may ask for.
const NAMES_PER_CALL: usize = 100;
/// The beginning of the name of a subscription. SNS gives `PendingConfirmation` instead before it is
/// confirmed, and `Deleted` after it has ended.
const NAME_BEGINNING: &str = "arn:";
/// The parameter of the template with the address that is told of alarms.
const ADDRESS_PARAMETER: &str = "AlarmEmail";

/// The alarms of the stack and the subscriptions to their topics.
#[derive(Debug)]
pub struct AlarmFacts {
    /// The alarms that the stack has, of which some may be gone.
    names: Vec<String>,
    alarms: Look<Vec<Alarm>>,
    topics: Vec<Topic>,
    /// The address that the stack was given to tell.
    address: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Alarm {
    name: String,
    description: String,
    state: String,
    reason: String,
    is_enabled: bool,
    has_action: bool,
}

#[derive(Debug)]
struct Topic {
    arn: String,
    subscriptions: Look<Vec<Subscription>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Subscription {
    endpoint: String,
    is_confirmed: bool,
}

/// Reads the alarms and the subscriptions to the topics of the stack.
pub async fn look(account: &AwsAccount, stack: &StackFacts) -> AlarmFacts {
    let names = stack.physical_names("AWS::CloudWatch::Alarm");
    let alarms = look_at_alarms(account, &names).await;
    let mut topics = Vec::new();
    for arn in stack.physical_names("AWS::SNS::Topic") {
        let subscriptions = look_at_subscriptions(account, &arn).await;
        topics.push(Topic { arn, subscriptions });
    }
    let address = stack.parameter(ADDRESS_PARAMETER).map(str::to_owned);
    AlarmFacts { names, alarms, topics, address }
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
    let document = parse("DescribeAlarms", answer)?;
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
    let result = result(&document).into_iter();
    Ok(result.flat_map(|result| members(result, "MetricAlarms")).map(read).collect())
}

async fn look_at_subscriptions(account: &AwsAccount, topic: &str) -> Look<Vec<Subscription>> {
    let parameters = [("TopicArn".to_owned(), topic.to_owned())];
    let (service, version) = (Service::Sns, "2010-03-31");
    let answer = query(account, service, version, "ListSubscriptionsByTopic", &parameters).await?;
    read_subscriptions(&answer)
}

fn read_subscriptions(answer: &str) -> Look<Vec<Subscription>> {
    let document = parse("ListSubscriptionsByTopic", answer)?;
    let read = |subscription| Subscription {
        endpoint: text(subscription, "Endpoint").unwrap_or_default(),
        is_confirmed: text(subscription, "SubscriptionArn")
            .is_some_and(|arn| arn.starts_with(NAME_BEGINNING)),
    };
    let result = result(&document).into_iter();
    Ok(result.flat_map(|result| members(result, "Subscriptions")).map(read).collect())
}

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
    let quiet = alarms.iter().filter(|alarm| alarm.state == "OK").count();
    let of = names.len();
    let mut findings = vec![Finding::ok("alarms", format!("{quiet} of {of} are quiet"))];
    findings.extend(alarms.iter().flat_map(of_alarm));
    let is_gone = |name: &&String| !alarms.iter().any(|alarm| alarm.name == **name);
    findings.extend(names.iter().filter(is_gone).map(|name| {
        Finding::problem(name, "the alarm has been deleted")
            .remedy(remedies.deploy())
            .section(section::ALARMS)
    }));
    findings
}

fn of_alarm(alarm: &Alarm) -> Vec<Finding> {
    let name = alarm.name.as_str();
    // The description of an alarm leads to a section.
    let (_, section) = alarm.description.rsplit_once("OPERATIONS.md, ").unwrap_or_default();
    let section = if section.is_empty() { section::ALARMS } else { section.trim() };
    let mut findings = Vec::new();
    match alarm.state.as_str() {
        "OK" => (),
        "ALARM" => {
            let finding = Finding::problem(name, format!("on: {}", alarm.reason));
            findings.push(finding.section(section));
        }
        // A new alarm has this state until its metric has had values.
        state => {
            let finding = Finding::note(name, format!("{state}: {}", alarm.reason));
            findings.push(finding.section(section));
        }
    }
    if !alarm.is_enabled {
        findings.push(
            Finding::warning(name, "its actions are switched off, so that it tells nobody")
                .remedy(format!("aws cloudwatch enable-alarm-actions --alarm-names {name}"))
                .section(section::ALARMS),
        );
    }
    if !alarm.has_action {
        let message = "it has no action, so that it tells nobody";
        findings.push(Finding::warning(name, message).section(section::ALARMS));
    }
    findings
}

fn of_topic(topic: &Topic, address: Option<&str>, remedies: &Remedies) -> Vec<Finding> {
    let check = "subscriptions";
    let subscriptions = match &topic.subscriptions {
        Ok(subscriptions) => subscriptions,
        Err(error) => return vec![error.finding(check)],
    };
    if subscriptions.is_empty() {
        let nobody = Finding::warning(check, "nobody is told of alarms");
        return vec![nobody.remedy(subscribe(topic, address, remedies)).section(section::DEPLOY)];
    }
    let (confirmed, pending): (Vec<_>, Vec<_>) =
        subscriptions.iter().partition(|subscription| subscription.is_confirmed);
    let mut findings = Vec::new();
    if !confirmed.is_empty() {
        findings.push(Finding::ok(check, format!("{} are told of alarms", confirmed.len())));
    }
    findings.extend(pending.iter().map(|Subscription { endpoint, .. }| {
        Finding::warning(check, format!("'{endpoint}' has not confirmed its subscription"))
            .remedy("open the link in the message that AWS sent to this address")
            .section(section::DEPLOY)
    }));
    findings
}

/// The command that has somebody told. CloudFormation subscribes an address once: a deployment with the
/// address that the stack has already changes nothing.
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

    const ALARMS: &str = r#"<DescribeAlarmsResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/">
      <DescribeAlarmsResult><MetricAlarms>
        <member><AlarmName>quiet</AlarmName><StateValue>OK</StateValue><ActionsEnabled>true</ActionsEnabled>
          <AlarmActions><member>arn:aws:sns:us-east-1:1:t</member></AlarmActions></member>
        <member><AlarmName>loud</AlarmName><StateValue>ALARM</StateValue><StateReason>2 datapoints</StateReason>
          <AlarmDescription>numbers: DynamoDB fails; see OPERATIONS.md, Database</AlarmDescription>
          <ActionsEnabled>false</ActionsEnabled><AlarmActions/></member>
      </MetricAlarms></DescribeAlarmsResult></DescribeAlarmsResponse>"#;
    const SUBSCRIPTIONS: &str = r#"<ListSubscriptionsByTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">
      <ListSubscriptionsByTopicResult><Subscriptions>
      <member><Endpoint>a@example.com</Endpoint><SubscriptionArn>PendingConfirmation</SubscriptionArn></member>
      <member><Endpoint>b@example.com</Endpoint><SubscriptionArn>arn:aws:sns:x</SubscriptionArn></member>
      <member><Endpoint>c@example.com</Endpoint><SubscriptionArn>Deleted</SubscriptionArn></member>
      </Subscriptions></ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>"#;

    fn topic(subscriptions: Vec<Subscription>) -> Topic {
        Topic { arn: "arn:aws:sns:us-east-1:1:t".to_owned(), subscriptions: Ok(subscriptions) }
    }

    #[test]
    fn alarms_that_are_on_silent_or_gone_and_pending_subscriptions_are_named() {
        let facts = AlarmFacts {
            names: ["quiet", "loud", "gone"].map(str::to_owned).to_vec(),
            alarms: read_alarms(ALARMS),
            topics: vec![topic(read_subscriptions(SUBSCRIPTIONS).unwrap())],
            address: None,
        };
        let found = findings(&facts, &Remedies::of_stack("numbers"));
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
    fn an_address_that_the_stack_has_already_is_subscribed_by_hand() {
        let remedy = |address| {
            let found = of_topic(&topic(Vec::new()), address, &Remedies::of_stack("numbers"));
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
}
