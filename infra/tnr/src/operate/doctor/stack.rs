//! Checks a stack on AWS.

use std::collections::BTreeMap;

use serde_json::Value;
use shared::auth::ApiKey;
use signed_requests::{AwsAccount, Service};
use store::{ReportName, Store};

use super::{
    Options, Remedies, alarms,
    aws::{members, query, text},
    check_database,
    data::AgeLimits,
    endpoints::check_service,
    finding::{Finding, Group, State, section},
};
use crate::CliError;

/// A stack as CloudFormation describes it.
#[derive(Debug, Default)]
pub struct Stack {
    status: String,
    reason: String,
    parameters: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
    resources: Vec<Value>,
}

impl Stack {
    async fn describe(account: &AwsAccount, name: &str) -> Result<Self, CliError> {
        let cloudformation = (Service::CloudFormation, "2010-05-15");
        let mut parameters = vec![("StackName".to_owned(), name.to_owned())];
        let description = query(account, cloudformation, "DescribeStacks", &parameters).await?;
        let stack = &description["Stacks"][0];
        let pairs = |list: &str, key: &str, value: &str| {
            let pair = |it: &Value| (text(it, key).to_owned(), text(it, value).to_owned());
            members(stack, list).iter().map(pair).collect()
        };
        let mut resources = Vec::new();
        loop {
            let page = query(account, cloudformation, "ListStackResources", &parameters).await?;
            resources.extend_from_slice(members(&page, "StackResourceSummaries"));
            let Some(next) = page["NextToken"].as_str() else { break };
            parameters.truncate(1);
            parameters.push(("NextToken".to_owned(), next.to_owned()));
        }
        Ok(Self {
            status: text(stack, "StackStatus").to_owned(),
            reason: text(stack, "StackStatusReason").to_owned(),
            parameters: pairs("Parameters", "ParameterKey", "ParameterValue"),
            outputs: pairs("Outputs", "OutputKey", "OutputValue"),
            resources,
        })
    }

    /// The physical names of all resources of a type, except those not created yet.
    pub fn physical_names(&self, kind: &str) -> Vec<&str> {
        let resources = self.resources.iter().filter(|resource| resource["ResourceType"] == kind);
        resources.filter_map(|it| it["PhysicalResourceId"].as_str()).collect()
    }

    /// A parameter's value; `None` if missing or empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The limits of the stack's alarms. A publisher's blocks have the same limit as its codes.
    fn age_limits(&self) -> AgeLimits {
        let days = |parameter| self.parameter(parameter)?.parse().ok();
        let mut limits = AgeLimits::default();
        limits.import_days = days("MaxDataAge").unwrap_or(limits.import_days);
        limits.report_days = [
            (ReportName::Nanpa, "MaxNanpaAge"),
            (ReportName::ThousandsBlocks, "MaxNanpaAge"),
            (ReportName::Cnac, "MaxCnacAge"),
            (ReportName::CanadianBlocks, "MaxCnacAge"),
            (ReportName::NpaReport, "MaxAreaCodeAge"),
        ]
        .into_iter()
        .filter_map(|(report, parameter)| Some((report, days(parameter)?)))
        .collect();
        limits
    }
}

/// Checks a stack, and its endpoints at `url` or its own URL. Without the stack's description, checks only the database.
pub async fn check_stack(
    account: &AwsAccount,
    store: &Store,
    name: &str,
    (url, key): (Option<&str>, Option<&ApiKey>),
    options: Options<'_>,
) -> Result<Vec<Group>, CliError> {
    let limit = options.limit;
    let remedies = Remedies::for_stack(name);
    let mut stack = None;
    let description = Group::check("stack", limit, async {
        let stack = stack.insert(Stack::describe(account, name).await?);
        Ok(findings(stack, &remedies))
    });
    let description = description.await;
    if description.findings[0].message.ends_with("does not exist") {
        let (stack, region) = (name.to_owned(), account.region().to_owned());
        return Err(CliError::NoStack { stack, region });
    }
    let limits = stack.as_ref().map(Stack::age_limits).unwrap_or_default();
    let alarms = async {
        let stack = stack.as_ref().ok_or(UNREADABLE_STACK)?;
        alarms::check(account, stack, &remedies).await
    };
    let endpoints = async {
        let own = || stack.as_ref()?.outputs.get("BaseUrl").map(String::as_str);
        let url = url.or_else(own).ok_or(UNREADABLE_STACK)?;
        check_service(url, key, limit).await
    };
    let (mut database, alarms, endpoints) = tokio::join!(
        check_database(store, &limits, &remedies, options),
        Group::check("alarms", limit, alarms),
        Group::check("endpoints", limit, endpoints),
    );
    database.splice(..0, [description]);
    database.extend([alarms, endpoints]);
    Ok(database)
}

const UNREADABLE_STACK: &str = "the stack, which lists what to check, could not be read";

fn findings(stack: &Stack, remedies: &Remedies) -> Vec<Finding> {
    let Stack { status, reason, .. } = stack;
    let (state, consequence) = match status.as_str() {
        "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "IMPORT_COMPLETE" => (State::Ok, ""),
        "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
            (State::Warning, "the last deployment failed and was rolled back; ")
        }
        status if status.ends_with("_IN_PROGRESS") => (State::Note, "changing right now; "),
        _ => (State::Problem, "the stack is not usable; "),
    };
    let mut finding =
        Finding::new(state, "status", format!("{consequence}{status} {reason}").trim_end());
    if state >= State::Warning {
        let events = remedies.cloudformation("describe-stack-events");
        finding = finding.remedy(events).section(section::DEPLOY);
    }
    let not_compared = "not compared with the template; drift detection lists manual changes";
    let settings = Finding::note("settings", not_compared)
        .remedy(remedies.cloudformation("detect-stack-drift"))
        .section(section::EXAMINE);
    vec![finding, settings]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_limits_match_the_stacks_alarms() {
        let parameters = [
            ("MaxDataAge", "9"),
            ("MaxNanpaAge", "10"),
            ("MaxCnacAge", "500"),
            ("MaxAreaCodeAge", "99"),
        ];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let limits = Stack { parameters, ..Stack::default() }.age_limits();
        assert_eq!(limits.import_days, 9);
        for (report, days) in [
            (ReportName::Nanpa, Some(10)),
            (ReportName::Cnac, Some(500)),
            (ReportName::NpaReport, Some(99)),
            (ReportName::ThousandsBlocks, Some(10)),
            (ReportName::CanadianBlocks, Some(500)),
            (ReportName::Carriers, None),
        ] {
            assert_eq!(limits.for_report(report), days, "{report}");
        }
        assert_eq!(Stack::default().age_limits(), AgeLimits::default());
    }

    #[test]
    fn failed_deployments_are_reported() {
        for (status, reason, expected) in [
            ("UPDATE_COMPLETE", "", "ok status: UPDATE_COMPLETE"),
            (
                "UPDATE_ROLLBACK_COMPLETE",
                "it failed",
                "warning status: the last deployment failed and was rolled back; \
                 UPDATE_ROLLBACK_COMPLETE it failed",
            ),
            (
                "UPDATE_ROLLBACK_IN_PROGRESS",
                "",
                "note status: changing right now; UPDATE_ROLLBACK_IN_PROGRESS",
            ),
            (
                "UPDATE_ROLLBACK_FAILED",
                "",
                "problem status: the stack is not usable; UPDATE_ROLLBACK_FAILED",
            ),
        ] {
            let (status, reason) = (status.to_owned(), reason.to_owned());
            let found =
                findings(&Stack { status, reason, ..Stack::default() }, &Remedies::for_stack("x"));
            assert_eq!(found[0].line(), expected);
        }
    }
}
