//! Checks a stack on AWS.

use std::time::Duration;

use shared::auth::ApiKey;
use signed_requests::AwsAccount;
use store::{ReportName, Store};

use super::{
    alarms,
    data::AgeLimits,
    database::{CheckOptions, check_database},
    endpoints::{Target, check_service},
    facts::{FactError, group, with_timeout},
    finding::{Finding, Group, State, section},
    remedies::Remedies,
    stack_facts::{self, StackFacts},
};
use crate::CliError;

pub struct StackTarget<'a> {
    pub name: &'a str,
    /// The URL for clients, if it differs from the stack's.
    pub url: Option<&'a str>,
    pub key: Option<ApiKey>,
}

pub async fn check_stack(
    account: &AwsAccount,
    store: &Store,
    target: StackTarget<'_>,
    options: CheckOptions<'_>,
) -> Result<Vec<Group>, CliError> {
    let limit = options.limit;
    let stack = with_timeout(limit, stack_facts::gather(account, target.name)).await;
    if let Err(FactError::Refused { message, .. }) = &stack
        && message.contains("does not exist")
    {
        let (stack, region) = (target.name.to_owned(), account.region().to_owned());
        return Err(CliError::NoStack { stack, region });
    }
    let remedies = Remedies::for_stack(target.name);
    let facts = stack.as_ref().ok();
    let limits = facts.map(age_limits).unwrap_or_default();
    let alarms = async {
        match facts {
            Some(stack) => {
                with_timeout(limit, async { Ok(alarms::gather(account, stack).await) }).await
            }
            None => Err(FactError::NoStack),
        }
    };
    let (database, alarms, endpoints) = tokio::join!(
        check_database(store, &limits, &remedies, options),
        alarms,
        check_endpoints(facts, &target, limit),
    );
    let mut groups = vec![group("stack", &stack, |stack| findings(stack, &remedies))];
    groups.extend(database);
    groups.push(group("alarms", &alarms, |alarms| alarms::findings(alarms, &remedies)));
    groups.push(endpoints?);
    Ok(groups)
}

/// The limits of the stack's alarms. A publisher's blocks have the same limit as its codes.
fn age_limits(stack: &StackFacts) -> AgeLimits {
    let days = |parameter| stack.parameter(parameter)?.parse().ok();
    let mut limits = AgeLimits::default();
    limits.import_days = days("MaxDataAge").unwrap_or(limits.import_days);
    limits.report_days.extend(
        [
            (ReportName::Nanpa, "MaxNanpaAge"),
            (ReportName::ThousandsBlocks, "MaxNanpaAge"),
            (ReportName::Cnac, "MaxCnacAge"),
            (ReportName::CanadianBlocks, "MaxCnacAge"),
            (ReportName::NpaReport, "MaxAreaCodeAge"),
        ]
        .into_iter()
        .filter_map(|(report, parameter)| Some((report, days(parameter)?))),
    );
    limits
}

/// Checks the endpoints at the given URL, or at the stack's own.
async fn check_endpoints(
    stack: Option<&StackFacts>,
    target: &StackTarget<'_>,
    limit: Duration,
) -> Result<Group, CliError> {
    let Some(base_url) = target.url.or_else(|| stack?.url()) else {
        let findings = vec![FactError::NoStack.finding("endpoints")];
        return Ok(Group { name: "endpoints", findings });
    };
    let target = Target { base_url: base_url.to_owned(), key: target.key.clone() };
    check_service(&target, limit).await
}

fn findings(facts: &StackFacts, remedies: &Remedies) -> Vec<Finding> {
    let not_compared = "not compared with the template; drift detection lists manual changes";
    let mut findings = vec![
        status_finding(facts, remedies),
        Finding::note("settings", not_compared)
            .remedy(remedies.cloudformation("detect-stack-drift"))
            .section(section::EXAMINE),
    ];
    // Settings that are easily left behind after an emergency.
    for (parameter, value, default, message, section) in [
        (
            "DeploymentStyle",
            "AllAtOnce",
            "Canary10Percent5Minutes",
            "a failing deployment is not rolled back",
            section::DEPLOY,
        ),
        ("LogLevel", "debug", "info", "requests log more lines than necessary", section::LOGS),
    ] {
        if facts.parameter(parameter) == Some(value) {
            let note = Finding::note(parameter, format!("'{value}': {message}"));
            findings.push(note.remedy(remedies.set_parameter(parameter, default)).section(section));
        }
    }
    findings
}

fn status_finding(facts: &StackFacts, remedies: &Remedies) -> Finding {
    let (state, message, command) = match facts.status.as_str() {
        "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "IMPORT_COMPLETE" => (State::Ok, "", None),
        "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_ROLLBACK_COMPLETE" => {
            let message = "the last deployment failed and was rolled back; ";
            (State::Warning, message, Some("describe-stack-events"))
        }
        "UPDATE_ROLLBACK_FAILED" => {
            let message = "the stack can be neither updated nor used; ";
            (State::Problem, message, Some("continue-update-rollback"))
        }
        status if status.ends_with("_IN_PROGRESS") => (State::Note, "changing right now; ", None),
        "ROLLBACK_COMPLETE" | "ROLLBACK_FAILED" | "CREATE_FAILED" | "DELETE_FAILED" => {
            (State::Problem, "the stack is not usable; ", Some("delete-stack"))
        }
        _ => (State::Problem, "the stack is not usable; ", None),
    };
    let reason = facts.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})"));
    let finding = Finding::new(state, "status", format!("{message}{}{reason}", facts.status));
    match command {
        Some(command) => finding.remedy(remedies.cloudformation(command)).section(section::DEPLOY),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_limits_are_those_of_the_stacks_alarms() {
        let parameters = [
            ("MaxDataAge", "9"),
            ("MaxNanpaAge", "10"),
            ("MaxCnacAge", "500"),
            ("MaxAreaCodeAge", "99"),
        ];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let limits = age_limits(&StackFacts { parameters, ..StackFacts::default() });
        let reports = [
            (ReportName::Nanpa, Some(10)),
            (ReportName::Cnac, Some(500)),
            (ReportName::NpaReport, Some(99)),
            (ReportName::ThousandsBlocks, Some(10)),
            (ReportName::CanadianBlocks, Some(500)),
            (ReportName::Carriers, None),
        ];
        assert_eq!(limits.import_days, 9);
        for (report, days) in reports {
            assert_eq!(limits.for_report(report), days, "{report}");
        }
        assert_eq!(age_limits(&StackFacts::default()), AgeLimits::default());
    }

    #[test]
    fn rolled_back_deployments_and_debug_logs_are_reported() {
        let parameters = [("LogLevel".to_owned(), "debug".to_owned())].into();
        let status = "UPDATE_ROLLBACK_COMPLETE".to_owned();
        let reason = Some("it failed".to_owned());
        let facts = StackFacts { status, reason, parameters, ..StackFacts::default() };
        let findings = findings(&facts, &Remedies::for_stack("numbers"));
        assert_eq!(findings[0].state, State::Warning);
        assert!(findings[0].message.ends_with("; UPDATE_ROLLBACK_COMPLETE (it failed)"));
        assert!(findings[2].check == "LogLevel" && findings[2].state == State::Note);
    }
}
