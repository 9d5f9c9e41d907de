//! Checks a stack on AWS.

use shared::auth::ApiKey;
use signed_requests::AwsAccount;
use store::Store;

use super::{
    Options, Remedies, alarms, check_database,
    endpoints::check_service,
    finding::{Finding, Group, State, section},
    stack_description::Stack,
};
use crate::CliError;

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
    fn failed_deployments_are_reported() {
        let rolled_back =
            "the last deployment failed and was rolled back; UPDATE_ROLLBACK_COMPLETE it failed";
        for (status, reason, state, message) in [
            ("UPDATE_COMPLETE", "", State::Ok, "UPDATE_COMPLETE"),
            ("UPDATE_ROLLBACK_COMPLETE", "it failed", State::Warning, rolled_back),
            ("DELETE_IN_PROGRESS", "", State::Note, "changing right now; DELETE_IN_PROGRESS"),
            ("CREATE_FAILED", "", State::Problem, "the stack is not usable; CREATE_FAILED"),
        ] {
            let (status, reason) = (status.to_owned(), reason.to_owned());
            let found =
                findings(&Stack { status, reason, ..Stack::default() }, &Remedies::for_stack("x"));
            assert_eq!((found[0].state, &*found[0].message), (state, message));
        }
    }
}
