//! The `doctor` command.

use std::{
    fmt::{self, Write},
    time::Duration,
};

use aws_sdk_dynamodb::config::Builder;
use ingest::Progress;
use shared::auth::ApiKey;
use signed_requests::{AwsAccount, sdk_config};
use store::{Store, Tables, TimeoutProfile};

use super::{
    database::{Conditions, DEFAULT_MAX_DAYS, examine_database},
    endpoints::{Target, examine_service},
    finding::{Examination, Finding, Group, State},
    remedies::Remedies,
    stack::{StackTarget, examine_stack},
};
use crate::{
    CliError,
    data::{import_progress::with_progress, report},
    database::{Access, on_database, place::Place, store_at},
    operate::args::DoctorArgs,
    terminal::{BAD, GOOD, HEADING, HINT, WARNING, styled, width, wrapped},
};

/// Examines what the arguments name, prints the findings, and fails if any need action.
pub async fn doctor(args: DoctorArgs) -> Result<(), CliError> {
    let work = async |show: &dyn Fn(Progress)| examine(&args, show).await;
    let examined = with_progress(work).await;
    let examination = examined.map_err(|error| CliError::Unexamined(Box::new(error)))?;
    report::print(args.json, &examination, write)
        .map_err(|error| CliError::Unprinted(Box::new(error)))?;
    conclude(&examination)
}

fn conclude(examination: &Examination) -> Result<(), CliError> {
    if examination.saw_nothing() {
        return Err(CliError::NothingExamined);
    }
    let problems = examination.count(State::Problem);
    let warnings = examination.count(State::Warning) + examination.count(State::Unknown);
    if problems + warnings == 0 { Ok(()) } else { Err(CliError::Findings { problems, warnings }) }
}

async fn examine(args: &DoctorArgs, progress: &dyn Fn(Progress)) -> Result<Examination, CliError> {
    let key: Option<ApiKey> = args.key.as_deref().map(str::parse).transpose()?;
    let conditions = Conditions { limit: Duration::from_secs(args.timeout), progress };
    let url = args.url.as_deref().map(|url| url.trim_end_matches('/'));
    if let Some(name) = &args.data.stack {
        return examination_of_stack(StackTarget { name, url, key }, conditions).await;
    }
    let (mut examined, mut groups) = (Vec::new(), Vec::new());
    if args.data.is_typed() || url.is_none() {
        let (database, found) = examination_of_database(args, conditions).await?;
        examined.push(database);
        groups.extend(found);
    }
    if let Some(url) = url {
        let target = Target { base_url: url.to_owned(), key, origin_secret: None };
        examined.push(format!("service {url}"));
        groups.push(examine_service(&target, conditions.limit).await?);
    }
    Ok(Examination::new(examined.join(" and "), groups))
}

async fn examination_of_stack(
    target: StackTarget<'_>,
    conditions: Conditions<'_>,
) -> Result<Examination, CliError> {
    let failed = CliError::io("the AWS account cannot be reached");
    let account = AwsAccount::from_env().await.map_err(failed)?;
    let config = Builder::from(&sdk_config().await);
    let store = Store::connect(config, Tables::for_stack(target.name), TimeoutProfile::Batch);
    let examined = format!("stack {} in {}", target.name, account.region());
    let groups = examine_stack(&account, &store, target, conditions).await?;
    Ok(Examination::new(examined, groups))
}

/// Examines the database that the arguments name, without creating it or its tables. An embedded
/// database has its tables from the first start.
async fn examination_of_database(
    args: &DoctorArgs,
    conditions: Conditions<'_>,
) -> Result<(String, Vec<Group>), CliError> {
    let place = args.data.place()?;
    let remedies = Remedies::new(&place, args.data.next());
    let examine = async |store: &Store| {
        examine_database(store, DEFAULT_MAX_DAYS, &remedies, conditions).await
    };
    match place {
        Place::Endpoint(endpoint) => {
            let store = store_at(&endpoint, TimeoutProfile::Batch).await;
            Ok((format!("database at {endpoint}"), examine(&store).await))
        }
        Place::Stack(_) | Place::Folder(_) => {
            let groups = on_database(&args.data, Access::Examine, examine).await?;
            Ok((format!("database in {place}"), groups))
        }
    }
}

fn write(table: &mut String, examination: &Examination) -> fmt::Result {
    let mut target = examination.target.clone();
    if let Some(first) = target.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    writeln!(table, "{}", styled(HEADING, &target))?;
    for Group { name, findings } in &examination.groups {
        writeln!(table, "\n{}", styled(HEADING, name))?;
        for finding in findings {
            write_finding(table, finding)?;
        }
    }
    let counts = [State::Problem, State::Warning, State::Unknown, State::Note, State::Ok];
    let counts = counts.map(|state| match examination.count(state) {
        count @ (0 | 2..) if matches!(state, State::Problem | State::Warning | State::Note) => {
            format!("{count} {}s", state.word())
        }
        count => format!("{count} {}", state.word()),
    });
    writeln!(table, "\n{}", counts.join(", "))
}

/// Writes a finding, with its remedy below.
fn write_finding(table: &mut String, finding: &Finding) -> fmt::Result {
    const INDENT: usize = 11;
    let Finding { check, state, message, remedy, section } = finding;
    let word = state.word();
    let style = match state {
        State::Ok => GOOD,
        State::Note => HINT,
        State::Unknown | State::Warning => WARNING,
        State::Problem => BAD,
    };
    let found = wrapped(&format!("  {word:<8} {check}: {message}"), width(), INDENT);
    writeln!(table, "{}", found.replacen(word, &styled(style, word), 1))?;
    let section =
        section.as_ref().map(|section| format!("# see '{section}' in docs/OPERATIONS.md"));
    for advice in remedy.iter().chain(&section) {
        writeln!(table, "{:INDENT$}{}", "", styled(HINT, advice))?;
    }
    Ok(())
}
