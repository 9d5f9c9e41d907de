//! The stack in the stand-in for AWS, and what the services of AWS answer about it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use axum::http::Uri;
use serde_json::{Value, json};
use yaml_serde::Value as Yaml;

use super::template::{self, functions, resources_of_type, text};

pub const STACK: &str = "numbers";
pub const REGION: &str = "us-east-1";

/// A stack, as a test can change it.
#[derive(Debug, Clone)]
pub struct StackState {
    pub status: String,
    pub parameters: BTreeMap<String, String>,
    /// What the functions run with, by their names in the template.
    pub latest: BTreeMap<String, Value>,
    pub live: BTreeMap<String, Value>,
    /// The share of the requests that goes to another version, by function.
    pub shares: BTreeMap<String, f64>,
    /// The states of the alarms by name.
    pub alarms: BTreeMap<String, String>,
    /// `None` before anybody subscribed; otherwise whether it is confirmed.
    pub subscription: Option<bool>,
    pub rule_state: String,
    pub unprotected: BTreeSet<String>,
    pub not_recoverable: BTreeSet<String>,
    pub without_time_to_live: bool,
    /// Operations that the credentials do not allow.
    pub denied: BTreeSet<String>,
    /// Operations that are never answered.
    pub stalled: BTreeSet<String>,
    /// What the service asks of every request that no distribution has passed on.
    pub origin_secret: Option<String>,
    /// Every operation that was called, as policies name it.
    pub called: BTreeSet<String>,
    /// The address at which the service answers.
    pub base_url: String,
    /// The database that holds the tables.
    pub dynamodb: String,
}

impl StackState {
    pub fn of_template(dynamodb: String) -> Self {
        let template: Yaml = yaml_serde::from_str(template::TEXT).unwrap();
        let declared = template["Parameters"].as_mapping().unwrap().iter();
        let parameters: BTreeMap<String, String> =
            declared.map(|(name, parameter)| (text(name), scalar(&parameter["Default"]))).collect();
        let configurations = |version: &str| {
            let functions = functions().into_iter();
            functions
                .map(|function| {
                    let (globals, own) = (&template["Globals"]["Function"], &function.properties);
                    let configuration = configuration(version, globals, own, &parameters);
                    (function.resource, configuration)
                })
                .collect()
        };
        let alarms = resources_of_type("AWS::CloudWatch::Alarm").into_iter();
        Self {
            status: "UPDATE_COMPLETE".to_owned(),
            latest: configurations("$LATEST"),
            live: configurations("7"),
            shares: BTreeMap::new(),
            alarms: alarms.map(|(name, _)| (physical(name), "OK".to_owned())).collect(),
            subscription: Some(true),
            rule_state: "ENABLED".to_owned(),
            unprotected: BTreeSet::new(),
            not_recoverable: BTreeSet::new(),
            without_time_to_live: false,
            denied: BTreeSet::new(),
            stalled: BTreeSet::new(),
            origin_secret: None,
            called: BTreeSet::new(),
            parameters,
            base_url: String::new(),
            dynamodb,
        }
    }

    /// Has the service ask for a secret, as one behind a distribution does.
    pub fn set_origin_secret(&mut self, secret: &str) {
        self.origin_secret = Some(secret.to_owned());
        for configuration in self.live.values_mut().chain(self.latest.values_mut()) {
            configuration["Environment"]["Variables"]["ORIGIN_SECRET"] = secret.into();
        }
    }

    /// Sets a variable of the version that clients reach.
    pub fn set_live(&mut self, function: &str, variable: &str, value: &str) {
        self.live.get_mut(function).unwrap()["Environment"]["Variables"][variable] = value.into();
    }

    pub fn stack(&self) -> String {
        let mut parameters = String::new();
        for (name, value) in &self.parameters {
            let pair = format!(
                "<ParameterKey>{name}</ParameterKey><ParameterValue>{value}</ParameterValue>"
            );
            write!(parameters, "<member>{pair}</member>").unwrap();
        }
        let (status, base_url) = (&self.status, &self.base_url);
        xml(
            "DescribeStacks",
            &format!(
                "<Stacks><member><StackName>{STACK}</StackName><StackStatus>{status}</StackStatus>\
                 <Parameters>{parameters}</Parameters><Outputs><member><OutputKey>BaseUrl</OutputKey>\
                 <OutputValue>{base_url}</OutputValue></member></Outputs></member></Stacks>"
            ),
        )
    }

    pub fn resources(&self) -> String {
        let mut members = String::new();
        let mut add = |logical: &str, physical: &str, kind: &str| {
            write!(
                members,
                "<member><LogicalResourceId>{logical}</LogicalResourceId>\
                 <PhysicalResourceId>{physical}</PhysicalResourceId>\
                 <ResourceType>{kind}</ResourceType></member>"
            )
            .unwrap();
        };
        for function in functions() {
            add(&function.resource, &physical(&function.resource), "AWS::Lambda::Function");
        }
        for (logical, table) in resources_of_type("AWS::DynamoDB::Table") {
            let name = text(&table["Properties"]["TableName"]);
            add(logical, &name.replace("${AWS::StackName}", STACK), "AWS::DynamoDB::Table");
        }
        for (logical, _) in resources_of_type("AWS::CloudWatch::Alarm") {
            add(logical, &physical(logical), "AWS::CloudWatch::Alarm");
        }
        add("AlarmTopic", "arn:aws:sns:us-east-1:1:topic", "AWS::SNS::Topic");
        add("IngestFunctionScheduled", "numbers-scheduled", "AWS::Events::Rule");
        xml(
            "ListStackResources",
            &format!("<StackResourceSummaries>{members}</StackResourceSummaries>"),
        )
    }

    pub fn alarms(&self) -> String {
        let mut members = String::new();
        for (name, state) in &self.alarms {
            write!(
                members,
                "<member><AlarmName>{name}</AlarmName><StateValue>{state}</StateValue>\
                 <StateReason>Threshold Crossed</StateReason><ActionsEnabled>true</ActionsEnabled>\
                 <AlarmActions><member>arn:aws:sns:us-east-1:1:topic</member></AlarmActions></member>"
            )
            .unwrap();
        }
        xml("DescribeAlarms", &format!("<MetricAlarms>{members}</MetricAlarms>"))
    }

    pub fn subscriptions(&self) -> String {
        let subscription = self.subscription.map(|is_confirmed| {
            let arn =
                if is_confirmed { "arn:aws:sns:us-east-1:1:t:1" } else { "PendingConfirmation" };
            format!(
                "<member><SubscriptionArn>{arn}</SubscriptionArn>\
                 <Endpoint>oncall@example.com</Endpoint></member>"
            )
        });
        let members = subscription.unwrap_or_default();
        xml("ListSubscriptionsByTopic", &format!("<Subscriptions>{members}</Subscriptions>"))
    }

    pub fn rule(&self) -> Value {
        let schedule = &self.parameters["ImportSchedule"];
        json!({ "Name": "numbers-scheduled", "State": self.rule_state, "ScheduleExpression": schedule })
    }

    pub fn lambda(&self, uri: &Uri) -> Value {
        let mut segments = uri.path().split('/').skip(3);
        let physical = segments.next().unwrap();
        let function = physical.trim_start_matches("numbers-").trim_end_matches("-1A2B3C");
        if segments.next() == Some("aliases") {
            let share = self.shares.get(function);
            let weights = share.map(|share| json!({ "AdditionalVersionWeights": { "8": share } }));
            return json!({ "Name": "live", "FunctionVersion": "7", "RoutingConfig": weights });
        }
        let is_live = uri.query() == Some("Qualifier=live");
        if is_live { self.live[function].clone() } else { self.latest[function].clone() }
    }

    /// What only AWS has in the answer to an operation on a table.
    pub fn add_aws(&self, operation: &str, table: &str, answer: &mut Value) {
        match operation {
            "DescribeTable" if answer["Table"].is_object() => {
                answer["Table"]["SSEDescription"] =
                    json!({ "Status": "ENABLED", "SSEType": "KMS" });
                let is_protected = !self.unprotected.contains(table);
                answer["Table"]["DeletionProtectionEnabled"] = is_protected.into();
            }
            "DescribeContinuousBackups" => {
                let is_off = self.not_recoverable.contains(table);
                let status = if is_off { "DISABLED" } else { "ENABLED" };
                *answer = json!({ "ContinuousBackupsDescription": {
                    "ContinuousBackupsStatus": "ENABLED",
                    "PointInTimeRecoveryDescription": { "PointInTimeRecoveryStatus": status },
                } });
            }
            "DescribeTimeToLive" => {
                let has_one = table == "numbers-usage" && !self.without_time_to_live;
                *answer = json!({ "TimeToLiveDescription": if has_one {
                    json!({ "TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at" })
                } else {
                    json!({ "TimeToLiveStatus": "DISABLED" })
                } });
            }
            _ => (),
        }
    }
}

/// The name that CloudFormation gives to a resource that has none in the template.
fn physical(logical: &str) -> String {
    format!("{STACK}-{logical}-1A2B3C")
}

fn scalar(value: &Yaml) -> String {
    match value {
        Yaml::Number(number) => number.to_string(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// The configuration that a function gets from the template.
fn configuration(
    version: &str,
    globals: &Yaml,
    own: &Yaml,
    parameters: &BTreeMap<String, String>,
) -> Value {
    let tables = resources_of_type("AWS::DynamoDB::Table");
    let table_named = |logical: &str| {
        let (_, table) = tables.iter().find(|(name, _)| *name == logical)?;
        Some(text(&table["Properties"]["TableName"]).replace("${AWS::StackName}", STACK))
    };
    // What follows from something else than a table or parameter is secret, and empty by default, or
    // a name that nobody compares.
    let resolved = |value: &Yaml| match value {
        Yaml::Tagged(reference) => {
            let name = reference.value.as_str().unwrap_or_default();
            table_named(name).or_else(|| parameters.get(name).cloned()).unwrap_or_default()
        }
        plain => scalar(plain),
    };
    let property = |name: &str| if own[name].is_null() { &globals[name] } else { &own[name] };
    let number = |name: &str| property(name).as_u64();
    let mut variables = BTreeMap::new();
    for holder in [globals, own] {
        for (name, value) in holder["Environment"]["Variables"].as_mapping().into_iter().flatten() {
            variables.insert(text(name), resolved(value));
        }
    }
    json!({
        "Version": version,
        "CodeSha256": "code",
        "Runtime": resolved(property("Runtime")),
        "Architectures": [resolved(&property("Architectures")[0])],
        "MemorySize": number("MemorySize"),
        "Timeout": number("Timeout"),
        "TracingConfig": { "Mode": resolved(property("Tracing")).replace("Disabled", "PassThrough") },
        "Environment": { "Variables": variables },
    })
}

fn xml(action: &str, result: &str) -> String {
    format!(
        "<{action}Response xmlns=\"http://example.amazonaws.com/doc/\"><{action}Result>{result}\
         </{action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{action}Response>"
    )
}
