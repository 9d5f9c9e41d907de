//! The examination of a stack in AWS.

use std::{collections::BTreeMap, time::Duration};

use shared::auth::ApiKey;
use signed_requests::AwsAccount;
use store::Store;

use super::{
    alarms::{self, AlarmFacts},
    database::{self, Conditions, DatabaseFacts},
    endpoints::{Answer, Target},
    finding::Group,
    functions::{self, FunctionFacts},
    look::{Look, LookError, group, within},
    remedies::Remedies,
    schedules::{self, RuleFacts},
    service,
    stack::{self, StackFacts},
    tables::{self, Place},
    template_values::TemplateValues,
};
use crate::LocalError;

/// The stack to examine.
pub struct StackTarget<'a> {
    pub name: &'a str,
    /// The address at which clients reach it, if that is not the one that the stack names.
    pub url: Option<&'a str>,
    pub key: Option<ApiKey>,
}

/// The functions of a stack, and how they answer.
struct ServiceFacts {
    functions: Look<Vec<FunctionFacts>>,
    /// `None` if no address is known.
    endpoints: Option<(Target, Look<Vec<Answer>>)>,
}

/// Examines a stack.
pub async fn examine_stack(
    account: &AwsAccount,
    store: &Store,
    target: StackTarget<'_>,
    conditions: Conditions<'_>,
) -> Result<Vec<Group>, LocalError> {
    let limit = conditions.limit;
    let stack = within(limit, stack::look(account, target.name)).await;
    if stack.as_ref().is_err_and(stack::is_missing) {
        let (stack, region) = (target.name.to_owned(), account.region().to_owned());
        return Err(LocalError::NoStack { stack, region });
    }
    let values = values_of(target.name, account.region(), &stack)?;
    let (_, names) = store.parts();
    let expected = tables::expected(&values, names)?;
    let (database, service, alarms, rules) = tokio::join!(
        database::look(store, expected, Place::Aws, conditions),
        look_at_service(account, &stack, &values, &target, limit),
        of_stack(&stack, limit, async |stack| alarms::look(account, stack).await),
        of_stack(&stack, limit, async |stack| schedules::look(account, stack).await),
    );
    let facts = Facts { stack, database, service: service?, alarms, rules };
    Ok(groups(&facts, &values, &Remedies::of_stack(target.name)))
}

/// All that is known of a stack.
struct Facts {
    stack: Look<StackFacts>,
    database: DatabaseFacts,
    service: ServiceFacts,
    alarms: Look<AlarmFacts>,
    rules: Look<Vec<RuleFacts>>,
}

fn groups(facts: &Facts, values: &TemplateValues, remedies: &Remedies) -> Vec<Group> {
    let Facts { stack, database, service, alarms, rules } = facts;
    let mut groups = vec![
        group("stack", stack, |stack| stack::findings(stack, values, remedies)),
        group("functions", &service.functions, |functions| {
            functions::findings(functions, values, remedies)
        }),
    ];
    groups.extend(database::groups(database, values, remedies));
    groups.push(group("schedules", rules, |rules| schedules::findings(rules, values, remedies)));
    groups.push(group("alarms", alarms, |alarms| alarms::findings(alarms, remedies)));
    groups.push(match &service.endpoints {
        Some((target, answers)) => service::of_answers(answers, target),
        None => {
            Group { name: "endpoints", findings: vec![LookError::NoStack.finding("endpoints")] }
        }
    });
    groups
}

fn values_of(
    name: &str,
    region: &str,
    stack: &Look<StackFacts>,
) -> Result<TemplateValues, LocalError> {
    let (parameters, resources) = match stack {
        Ok(stack) => (stack.parameters.clone(), stack.names()),
        Err(_) => (BTreeMap::new(), BTreeMap::new()),
    };
    TemplateValues::new(name, region, parameters, resources)
}

/// What is seen of something that the stack names.
async fn of_stack<T>(
    stack: &Look<StackFacts>,
    limit: Duration,
    looking: impl AsyncFnOnce(&StackFacts) -> T,
) -> Look<T> {
    let Ok(stack) = stack else { return Err(LookError::NoStack) };
    within(limit, async { Ok(looking(stack).await) }).await
}

/// The endpoints are asked after the functions, whose settings say which secret they ask for.
async fn look_at_service(
    account: &AwsAccount,
    stack: &Look<StackFacts>,
    values: &TemplateValues,
    target: &StackTarget<'_>,
    limit: Duration,
) -> Result<ServiceFacts, LocalError> {
    let functions = of_stack(stack, limit, async |_| functions::look(account, values).await).await;
    let secret = functions.as_deref().ok().and_then(functions::origin_secret);
    // What stands before the service sends the secret itself.
    let origin_secret = secret.filter(|_| target.url.is_none());
    let own_url = stack.as_ref().ok().and_then(|stack| own_url(stack, values));
    let endpoints = match target.url.map(ToOwned::to_owned).or(own_url) {
        Some(base_url) => {
            let target = Target { base_url, key: target.key.clone(), origin_secret };
            let answers = service::look(&target, limit).await?;
            Some((target, answers))
        }
        None => None,
    };
    Ok(ServiceFacts { functions, endpoints })
}

/// The address of the stack's own domain, or else the one that API Gateway gave it.
fn own_url(stack: &StackFacts, values: &TemplateValues) -> Option<String> {
    let domain = values.parameter("DomainName").filter(|domain| !domain.is_empty());
    let url = domain.map(|domain| format!("https://{domain}"));
    let url = url.or_else(|| stack.outputs.get("BaseUrl").cloned())?;
    Some(url.trim_end_matches('/').to_owned())
}
