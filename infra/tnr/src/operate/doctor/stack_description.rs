//! A stack's state, parameters and resources.

use std::collections::BTreeMap;

use serde_json::Value;
use signed_requests::{AwsAccount, Service};
use store::ReportName;

use super::{
    aws::{members, query, text},
    data::AgeLimits,
};
use crate::CliError;

/// A stack as CloudFormation describes it.
#[derive(Debug, Default)]
pub struct Stack {
    pub status: String,
    pub reason: String,
    pub parameters: BTreeMap<String, String>,
    pub outputs: BTreeMap<String, String>,
    pub resources: Vec<Value>,
}

impl Stack {
    pub async fn describe(account: &AwsAccount, name: &str) -> Result<Self, CliError> {
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
    pub fn age_limits(&self) -> AgeLimits {
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
}
