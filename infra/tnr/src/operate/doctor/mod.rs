//! The `doctor` command: diagnoses a stack, a database or a service, and suggests remedies. It changes nothing.
//!
//! A check that fails to run is a finding as well. CloudFormation's drift detection compares a stack's settings with
//! the template.

mod data;
mod endpoints;
mod finding;
mod keys;
mod stack;

use std::{
    fmt::{self, Write},
    process::ExitCode,
    time::Duration,
};

use aws_sdk_dynamodb::types::TableDescription;
use clap::Args;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use numbering::time::this_second;
use shared::auth::ApiKey;
use signed_requests::AwsAccount;
use store::Store;

use self::{
    data::AgeLimits,
    endpoints::check_service,
    finding::{CheckResult, DoctorReport, Finding, Group, State},
    stack::{Stack, check_alarms},
};
use crate::{
    CliError,
    data::report,
    database::{
        Access,
        args::{DataArgs, DatabaseLocation, endpoint_url},
        on_database,
        tables::describe,
    },
    error::{Cause, Context, pluralize},
    show_error,
    terminal::{BAD, GOOD, HEADING, HINT, NextCommands, WARNING, styled, width, wrap},
};

const WARNINGS_EXIT_CODE: u8 = 1;
const PROBLEMS_EXIT_CODE: u8 = 2;
pub const UNKNOWN_EXIT_CODE: u8 = 3;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Test the service at this URL, instead of the stack's own URL
    #[arg(long, value_name = "BASE_URL", value_parser = endpoint_url)]
    pub url: Option<String>,
    /// Also test endpoints with this API key
    #[arg(long, value_name = "KEY", env = "TNR_KEY", hide_env_values = true)]
    pub key: Option<String>,
    /// Timeout for each group of checks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

struct CheckContext {
    now: Timestamp,
    next: NextCommands,
    limits: AgeLimits,
    /// A stack imports every night.
    is_stack: bool,
}

/// Runs the selected checks and prints the findings. An error means that nothing could be checked.
pub async fn doctor(args: DoctorArgs) -> ExitCode {
    match print_findings(&args).await {
        Ok((0, 0)) => ExitCode::SUCCESS,
        Ok((problems, warnings)) => {
            let counts = [pluralize(problems, "problem"), pluralize(warnings, "warning")];
            show_error(&CliError::failed(format!("found {}", counts.join(" and "))));
            ExitCode::from(if problems > 0 { PROBLEMS_EXIT_CODE } else { WARNINGS_EXIT_CODE })
        }
        Err(error) => {
            show_error(&error);
            ExitCode::from(UNKNOWN_EXIT_CODE)
        }
    }
}

/// Returns the numbers of problems and warnings.
async fn print_findings(args: &DoctorArgs) -> Result<(usize, usize), CliError> {
    let examination = examine(args).await.context("the checks could not start")?;
    report::print(args.json, &examination, write).context("the findings could not be printed")?;
    if examination.is_unknown() {
        return Err(CliError::failed("nothing could be checked"));
    }
    let warnings = examination.count(State::Warning) + examination.count(State::Unknown);
    Ok((examination.count(State::Problem), warnings))
}

async fn examine(args: &DoctorArgs) -> Result<DoctorReport, CliError> {
    let key: Option<ApiKey> = args.key.as_deref().map(str::parse).transpose()?;
    let limit = Duration::from_secs(args.timeout);
    let (mut targets, mut groups) = (Vec::new(), Vec::new());
    let (mut url, mut limits) = (args.url.clone(), AgeLimits::default());
    if let Some(name) = &args.data.stack {
        let account = AwsAccount::from_env().await.context("the AWS account cannot be reached")?;
        targets.push(format!("stack {name} in {}", account.region()));
        let stack = async {
            let stack = Stack::describe(&account, name).await?;
            limits = AgeLimits::for_stack(&stack.parameters);
            url = url.take().or_else(|| stack.outputs.get("BaseUrl").cloned());
            Ok(vec![stack.finding(name)])
        };
        groups.push(Group::check("stack", limit, stack).await);
        groups.push(Group::check("alarms", limit, check_alarms(&account, name)).await);
    } else if args.data.is_explicit() || url.is_none() {
        targets.push(match args.data.location()? {
            DatabaseLocation::Endpoint(url) => format!("database at {url}"),
            location => format!("database in {location}"),
        });
    }
    let is_stack = args.data.stack.is_some();
    if args.data.is_explicit() || url.is_none() {
        let context = CheckContext { now: this_second(), next: args.data.next(), limits, is_stack };
        let check = async |store: &Store| check_database(store, &context, limit).await;
        match on_database(&args.data, Access::Read, check).await {
            Err(error)
                if (is_stack || url.is_some()) && !matches!(error, CliError::NoStack { .. }) =>
            {
                let failed = async { Err(error.into()) };
                groups.push(Group::check("database", limit, failed).await);
            }
            checked => groups.extend(checked?),
        }
    }
    if let Some(url) = url {
        let url = url.trim_end_matches('/');
        if !is_stack {
            targets.push(format!("service {url}"));
        }
        let endpoints = check_service(url, key.as_ref(), limit);
        groups.push(Group::check("endpoints", limit, endpoints).await);
    } else if is_stack {
        let unknown = async { Err("the stack's URL is unknown; pass --url".into()) };
        groups.push(Group::check("endpoints", limit, unknown).await);
    }
    Ok(DoctorReport::new(targets.join(" and "), groups))
}

async fn check_database(store: &Store, context: &CheckContext, limit: Duration) -> [Group; 4] {
    tokio::join!(
        Group::check("tables", limit, check_tables(store, context.is_stack)),
        Group::check("data", limit, data::check(store, context)),
        Group::check("items", limit, data::check_items(store, &context.next)),
        Group::check("keys", limit, keys::check(store, context)),
    )
    .into()
}

async fn check_tables(store: &Store, is_stack: bool) -> CheckResult {
    let (client, tables) = store.parts();
    let checks = tables.names().map(async |name| {
        let table = describe(client, name).await.context(format!("cannot read table {name}"))?;
        Ok::<_, Cause>(table_finding(name, table.as_ref(), is_stack))
    });
    try_join_all(checks).await
}

/// Checks a table's deletion protection. It is set when the first key is created and is not in the template, so drift
/// detection does not compare it.
fn table_finding(name: &str, table: Option<&TableDescription>, is_stack: bool) -> Finding {
    match table {
        None => Finding::problem(name, "the table does not exist").section("Restore from backup"),
        Some(table) if is_stack && table.deletion_protection_enabled() != Some(true) => {
            Finding::warning(name, "its deletion protection is off")
                .remedy(format!(
                    "aws dynamodb update-table --table-name {name} --deletion-protection-enabled"
                ))
                .section("First import and first key")
        }
        Some(_) => Finding::ok(name, "exists"),
    }
}

fn write(table: &mut String, examination: &DoctorReport) -> fmt::Result {
    let mut target = examination.target.clone();
    target[..1].make_ascii_uppercase();
    writeln!(table, "{}", styled(HEADING, &target))?;
    for Group { name, findings } in &examination.groups {
        writeln!(table, "\n{}", styled(HEADING, name))?;
        for finding in findings {
            write_finding(table, finding)?;
        }
    }
    let count = |state| examination.count(state);
    writeln!(
        table,
        "\n{}, {}, {} unknown, {}, {} ok",
        pluralize(count(State::Problem), "problem"),
        pluralize(count(State::Warning), "warning"),
        count(State::Unknown),
        pluralize(count(State::Note), "note"),
        count(State::Ok)
    )
}

fn write_finding(table: &mut String, finding: &Finding) -> fmt::Result {
    const INDENT: usize = 11;
    let Finding { check, state, message, remedy, section } = finding;
    let word: &str = state.into();
    let style = match state {
        State::Ok => GOOD,
        State::Note => HINT,
        State::Unknown | State::Warning => WARNING,
        State::Problem => BAD,
    };
    let lines = wrap(&format!("  {word:<8} {check}: {message}"), width(), INDENT);
    writeln!(table, "{}", lines.replacen(word, &styled(style, word), 1))?;
    let section =
        section.as_ref().map(|section| format!("# see '{section}' in docs/OPERATIONS.md"));
    for advice in remedy.iter().chain(&section) {
        writeln!(table, "{:INDENT$}{}", "", styled(HINT, advice))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stacks_unprotected_tables_are_reported() {
        let table = |is_protected| {
            TableDescription::builder().deletion_protection_enabled(is_protected).build()
        };
        for (table, is_stack, expected) in [
            (Some(table(true)), true, "ok x: exists"),
            (Some(table(false)), true, "warning x: its deletion protection is off"),
            (Some(table(false)), false, "ok x: exists"),
            (None, true, "problem x: the table does not exist"),
        ] {
            assert_eq!(table_finding("x", table.as_ref(), is_stack).line(), expected);
        }
    }
}
