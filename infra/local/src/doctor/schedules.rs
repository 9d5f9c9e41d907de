//! The rules of EventBridge that start functions: whether they are enabled and fire when they should.

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use signed_requests::{AwsAccount, Service};

use super::{
    aws::post_json,
    finding::{Finding, Section},
    look::Look,
    remedies::Remedies,
    stack::StackFacts,
    template_values::TemplateValues,
};

const RULE_TYPE: &str = "AWS::Events::Rule";

/// A rule of the stack.
#[derive(Debug)]
pub struct RuleFacts {
    /// Its name in the template, which SAM makes of the names of the function and of the event.
    pub logical: String,
    pub name: String,
    pub rule: Look<Rule>,
}

/// A rule as it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Rule {
    pub state: String,
    /// When it fires; `None` for a rule that waits for an event.
    pub schedule_expression: Option<String>,
}

/// Reads every rule of the stack, side by side.
pub async fn look(account: &AwsAccount, stack: &StackFacts) -> Vec<RuleFacts> {
    let rules = stack.resources.iter().filter(|resource| resource.kind == RULE_TYPE);
    let looks = rules.map(async |resource| {
        let (logical, name) = (resource.logical.clone(), resource.physical.clone());
        let body = json!({ "Name": name });
        let rule = post_json(account, Service::EventBridge, "AWSEvents.DescribeRule", &body).await;
        RuleFacts { logical, name, rule }
    });
    join_all(looks).await
}

/// What is to be said of the rules.
pub fn findings(rules: &[RuleFacts], values: &TemplateValues, remedies: &Remedies) -> Vec<Finding> {
    let findings = rules.iter().map(|facts| match &facts.rule {
        Ok(rule) => of_rule(facts, rule, expected_schedule(values, &facts.logical), remedies),
        Err(error) => error.finding(facts.logical.as_str()),
    });
    findings.collect()
}

fn of_rule(
    facts: &RuleFacts,
    rule: &Rule,
    expected: Option<String>,
    remedies: &Remedies,
) -> Finding {
    let check = facts.logical.as_str();
    let fires = rule.schedule_expression.as_deref();
    if rule.state == "DISABLED" {
        return Finding::problem(check, "the rule is disabled, so that it starts nothing")
            .remedy(format!("aws events enable-rule --name {}", facts.name))
            .section(Section::DataTooOld);
    }
    match (expected, fires) {
        (Some(expected), Some(actual)) if expected != actual => {
            Finding::warning(check, format!("it fires at '{actual}' instead of '{expected}'"))
                .remedy(remedies.deploy())
                .section(Section::Deploy)
        }
        (_, Some(schedule)) => Finding::ok(check, format!("enabled; {schedule}")),
        (_, None) => Finding::ok(check, "enabled"),
    }
}

/// When the template has a rule fire.
fn expected_schedule(values: &TemplateValues, logical: &str) -> Option<String> {
    values.resources_of_type("AWS::Serverless::Function").find_map(|(function, resource)| {
        let event = logical.strip_prefix(function)?;
        let event = &resource["Properties"]["Events"][event];
        values.resolve(&event["Properties"]["Schedule"]).text()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    #[test]
    fn a_rule_must_be_enabled_and_fire_when_the_stack_says() {
        let values = TemplateValues::of_defaults().unwrap();
        let found = |state: &str, schedule: Option<&str>| {
            let schedule_expression = schedule.map(ToOwned::to_owned);
            let facts = RuleFacts {
                logical: "IngestFunctionScheduled".to_owned(),
                name: "numbers-IngestFunctionScheduled-1".to_owned(),
                rule: Ok(Rule { state: state.to_owned(), schedule_expression }),
            };
            findings(&[facts], &values, &Remedies::of_stack("numbers")).remove(0)
        };
        assert_eq!(found("ENABLED", Some("cron(0 9 * * ? *)")).state, State::Ok);
        assert_eq!(found("ENABLED", None).state, State::Ok);
        assert_eq!(found("ENABLED", Some("rate(1 day)")).state, State::Warning);
        let disabled = found("DISABLED", Some("cron(0 9 * * ? *)"));
        assert_eq!(disabled.state, State::Problem);
        assert_eq!(
            disabled.remedy.as_deref(),
            Some("aws events enable-rule --name numbers-IngestFunctionScheduled-1")
        );
    }
}
