//! Examines a deployment and prints what is wrong.

use std::{
    fmt::{self, Write},
    path::Path,
    time::Duration,
};

use aws_sdk_dynamodb::config::Builder;
use ingest::Progress;
use shared::auth::ApiKey;
use signed_requests::{AwsAccount, sdk_config};
use store::{Store, Tables, TimeoutProfile};

use crate::{
    LocalError,
    args::{DATA_DIR, DataArgs, DatabaseArgs, DoctorArgs, FolderArgs},
    database::{DATABASE_FILE, on_database, store_at},
    doctor::{
        Conditions, Examination, Finding, Group, Remedies, StackTarget, State, Target,
        examine_database, examine_service, examine_stack,
    },
    import_progress::with_progress,
    report,
};

/// Examines what the arguments name, prints the findings, and fails if there is something to act on.
///
/// # Errors
/// Returns an error if nothing could be examined, or something is wrong.
pub async fn doctor(args: DoctorArgs) -> Result<(), LocalError> {
    let work = async |show: &dyn Fn(Progress)| examine(&args, show).await;
    let examined = with_progress(work).await;
    let examination = examined.map_err(|error| LocalError::Unexamined(Box::new(error)))?;
    report::print(args.json, &examination, write)
        .map_err(|error| LocalError::Unprinted(Box::new(error)))?;
    conclude(&examination)
}

fn conclude(examination: &Examination) -> Result<(), LocalError> {
    if examination.saw_nothing() {
        return Err(LocalError::NothingExamined);
    }
    let problems = examination.count(State::Problem);
    let warnings = examination.count(State::Warning) + examination.count(State::Unknown);
    if problems + warnings == 0 { Ok(()) } else { Err(LocalError::Findings { problems, warnings }) }
}

async fn examine(
    args: &DoctorArgs,
    progress: &dyn Fn(Progress),
) -> Result<Examination, LocalError> {
    let key: Option<ApiKey> = args.key.as_deref().map(str::parse).transpose()?;
    let conditions = Conditions { limit: Duration::from_secs(args.timeout), progress };
    let url = args.url.as_deref().map(|url| url.trim_end_matches('/'));
    if let Some(name) = &args.stack {
        return of_stack(StackTarget { name, url, key }, conditions).await;
    }
    let names_database = args.data_dir.is_some() || args.endpoint_url.is_some();
    let (mut examined, mut groups) = (Vec::new(), Vec::new());
    if names_database || url.is_none() {
        let (database, found) = of_database(args, conditions).await?;
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

async fn of_stack(
    target: StackTarget<'_>,
    conditions: Conditions<'_>,
) -> Result<Examination, LocalError> {
    let failed = LocalError::io("the AWS account cannot be reached");
    let account = AwsAccount::from_env().await.map_err(failed)?;
    let config = Builder::from(&sdk_config().await);
    let store = Store::connect(config, Tables::of_stack(target.name), TimeoutProfile::Batch);
    let examined = format!("stack {} in {}", target.name, account.region());
    let groups = examine_stack(&account, &store, target, conditions).await?;
    Ok(Examination::new(examined, groups))
}

/// Examines the database that the arguments name, without creating one or its tables. An embedded
/// database has its tables from its first start on.
async fn of_database(
    args: &DoctorArgs,
    conditions: Conditions<'_>,
) -> Result<(String, Vec<Group>), LocalError> {
    if let Some(endpoint) = &args.endpoint_url {
        let store = store_at(endpoint, false, TimeoutProfile::Batch).await;
        let remedies = Remedies::of_endpoint(endpoint);
        let groups = examine_database(&store, &remedies, conditions).await?;
        return Ok((format!("database at {endpoint}"), groups));
    }
    let folder = args.data_dir.as_deref().unwrap_or(Path::new(DATA_DIR));
    if !folder.join(DATABASE_FILE).exists() {
        return Err(LocalError::NoDatabase(folder.display().to_string()));
    }
    let named = FolderArgs { data_dir: folder.to_owned() };
    let database = DatabaseArgs { folder: named, endpoint_url: None };
    let remedies = Remedies::of_folder(args.data_dir.as_deref());
    let examine = async |store: &Store| examine_database(store, &remedies, conditions).await;
    let groups = on_database(&DataArgs { stack: None, database }, examine).await??;
    Ok((format!("database in {}", folder.display()), groups))
}

fn write(table: &mut String, examination: &Examination) -> fmt::Result {
    let mut target = examination.target.clone();
    if let Some(first) = target.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    writeln!(table, "{target}")?;
    for Group { name, findings } in &examination.groups {
        writeln!(table, "\n{name}")?;
        for finding in findings {
            write_finding(table, finding)?;
        }
    }
    let count = |state: State| examination.count(state);
    writeln!(
        table,
        "\n{} problem, {} warning, {} unknown, {} note, {} ok",
        count(State::Problem),
        count(State::Warning),
        count(State::Unknown),
        count(State::Note),
        count(State::Ok),
    )
}

/// One line, and for what is not right another one with what to do.
fn write_finding(table: &mut String, finding: &Finding) -> fmt::Result {
    let Finding { check, state, message, remedy, section } = finding;
    writeln!(table, "  {:<8} {check}: {message}", state.word())?;
    let section = section.as_ref().map(|section| format!("see '{section}' in docs/OPERATIONS.md"));
    let advice: Vec<String> = remedy.iter().cloned().chain(section).collect();
    if advice.is_empty() { Ok(()) } else { writeln!(table, "           {}", advice.join("   # ")) }
}
