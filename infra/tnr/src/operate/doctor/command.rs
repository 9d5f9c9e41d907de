//! The `doctor` command.

use std::{
    fmt::{self, Write},
    process::ExitCode,
    time::Duration,
};

use aws_sdk_dynamodb::config::Builder;
use ingest::Progress;
use shared::auth::ApiKey;
use signed_requests::{AwsAccount, sdk_config};
use store::{Store, Tables, TimeoutProfile};

use super::{
    Options, Remedies, check_database,
    data::AgeLimits,
    endpoints::check_service,
    finding::{Examination, Finding, Group, State},
    stack::check_stack,
};
use crate::{
    CliError,
    data::{import_progress::with_progress, report},
    database::{Access, on_database, place::Place, store_at},
    error::{Context, pluralize},
    operate::args::DoctorArgs,
    show_error,
    terminal::{BAD, GOOD, HEADING, HINT, WARNING, styled, width, wrap},
};

/// Exit codes of monitoring plugins.
const WARNINGS_EXIT_CODE: u8 = 1;
const PROBLEMS_EXIT_CODE: u8 = 2;
pub const UNKNOWN_EXIT_CODE: u8 = 3;

/// Runs the checks that the arguments select, and prints the findings. An error means that nothing is known.
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

/// Returns how many problems and warnings need action.
async fn print_findings(args: &DoctorArgs) -> Result<(usize, usize), CliError> {
    let work = async |show: &dyn Fn(Progress)| examine(args, show).await;
    let examination = with_progress(work).await.context("the checks could not start")?;
    report::print(args.json, &examination, write).context("the findings could not be printed")?;
    if examination.is_unknown() {
        return Err(CliError::failed("nothing could be checked"));
    }
    let warnings = examination.count(State::Warning) + examination.count(State::Unknown);
    Ok((examination.count(State::Problem), warnings))
}

async fn examine(args: &DoctorArgs, progress: &dyn Fn(Progress)) -> Result<Examination, CliError> {
    let key: Option<ApiKey> = args.key.as_deref().map(str::parse).transpose()?;
    let options = Options { limit: Duration::from_secs(args.timeout), progress };
    let url = args.url.as_deref().map(|url| url.trim_end_matches('/'));
    if let Some(stack) = &args.data.stack {
        let account = AwsAccount::from_env().await.context("the AWS account cannot be reached")?;
        let config = Builder::from(&sdk_config().await);
        let store = Store::connect(config, Tables::for_stack(stack), TimeoutProfile::Batch);
        let groups = check_stack(&account, &store, stack, (url, key.as_ref()), options).await?;
        return Ok(Examination::new(format!("stack {stack} in {}", account.region()), groups));
    }
    let (mut targets, mut groups) = (Vec::new(), Vec::new());
    if args.data.is_explicit() || url.is_none() {
        let place = args.data.place()?;
        targets.push(match &place {
            Place::Endpoint(url) => format!("database at {url}"),
            place => format!("database in {place}"),
        });
        groups.extend(examine_database(args, place, options).await?);
    }
    if let Some(url) = url {
        targets.push(format!("service {url}"));
        let endpoints = check_service(url, key.as_ref(), options.limit);
        groups.push(Group::check("endpoints", options.limit, endpoints).await);
    }
    Ok(Examination::new(targets.join(" and "), groups))
}

/// Checks the database that the arguments select, without creating missing tables.
async fn examine_database(
    args: &DoctorArgs,
    place: Place,
    options: Options<'_>,
) -> Result<Vec<Group>, CliError> {
    let remedies = Remedies::new(place.clone(), args.data.next());
    let limits = AgeLimits::default();
    let check = async |store: &Store| check_database(store, &limits, &remedies, options).await;
    match place {
        Place::Endpoint(url) => Ok(check(&store_at(&url, TimeoutProfile::Batch).await).await),
        _ => on_database(&args.data, Access::Read, check).await,
    }
}

fn write(table: &mut String, examination: &Examination) -> fmt::Result {
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
