//! The tables: they exist, and on AWS they are protected from data loss.

use aws_sdk_dynamodb::{
    Client,
    types::{ContinuousBackupsStatus, PointInTimeRecoveryStatus, TableDescription, TableStatus},
};
use futures_util::future::join_all;
use store::Tables;

use super::{
    examined::{ExaminationError, Examined},
    finding::{Finding, State, section},
    remedies::Remedies,
};
use crate::keys::deletion_protection;

#[derive(Debug)]
pub struct TableFacts {
    pub name: String,
    /// `true` for the keys, which no import can restore.
    pub holds_keys: bool,
    /// `None` if the table does not exist.
    pub table: Examined<Option<TableDescription>>,
    /// `true` with point-in-time recovery; `None` outside AWS.
    pub is_recoverable: Option<Examined<bool>>,
}

/// Reads the table descriptions concurrently.
pub async fn look(client: &Client, tables: &Tables, is_aws: bool) -> Vec<TableFacts> {
    let looks = deletion_protection::names(tables).map(async |name| {
        let recovery =
            async { if is_aws { Some(is_recoverable(client, name).await) } else { None } };
        let (table, is_recoverable) = tokio::join!(describe(client, name), recovery);
        let holds_keys = name == tables.api_keys;
        TableFacts { name: name.to_owned(), holds_keys, table, is_recoverable }
    });
    join_all(looks).await
}

async fn describe(client: &Client, name: &str) -> Examined<Option<TableDescription>> {
    match client.describe_table().table_name(name).send().await {
        Ok(answer) => Ok(answer.table),
        Err(error) => match error.as_service_error() {
            Some(refusal) if refusal.is_resource_not_found_exception() => Ok(None),
            _ => Err(ExaminationError::table("DescribeTable", name)(error)),
        },
    }
}

async fn is_recoverable(client: &Client, name: &str) -> Examined<bool> {
    let answer = client.describe_continuous_backups().table_name(name).send().await;
    let answer = answer.map_err(ExaminationError::table("DescribeContinuousBackups", name))?;
    let backups = answer.continuous_backups_description;
    let recovery = backups.as_ref().and_then(|backups| {
        let is_on = *backups.continuous_backups_status() == ContinuousBackupsStatus::Enabled;
        backups.point_in_time_recovery_description().filter(|_| is_on)
    });
    let status = recovery.and_then(|recovery| recovery.point_in_time_recovery_status());
    Ok(status == Some(&PointInTimeRecoveryStatus::Enabled))
}

/// Findings about the tables. `has_keys` means that there is something to protect.
pub fn findings(tables: &[TableFacts], has_keys: bool, remedies: &Remedies) -> Vec<Finding> {
    tables.iter().flat_map(|facts| table_findings(facts, has_keys, remedies)).collect()
}

fn table_findings(facts: &TableFacts, has_keys: bool, remedies: &Remedies) -> Vec<Finding> {
    let TableFacts { name, holds_keys, table, is_recoverable } = facts;
    let table = match table {
        Ok(Some(table)) => table,
        Ok(None) => return vec![missing(name, remedies)],
        Err(error) => return vec![error.finding(name)],
    };
    let Some(is_recoverable) = is_recoverable else { return vec![Finding::ok(name, "is there")] };
    let mut findings = Vec::new();
    if let Some(status) = table.table_status().map(TableStatus::as_str)
        && status != "ACTIVE"
    {
        findings.push(Finding::warning(name, format!("its status is '{status}'")));
    }
    if table.deletion_protection_enabled() != Some(true) {
        let state = if has_keys { State::Warning } else { State::Note };
        findings.push(
            Finding::new(state, name, "its deletion protection is off")
                .remedy(format!(
                    "aws dynamodb update-table --table-name {name} --deletion-protection-enabled"
                ))
                .section(section::FIRST_IMPORT_AND_KEY),
        );
    }
    match is_recoverable {
        Ok(true) => (),
        Ok(false) => findings.push(not_recoverable(name, *holds_keys)),
        Err(error) => findings.push(error.finding(name)),
    }
    if findings.is_empty() {
        findings.push(Finding::ok(name, "restorable and protected from deletion"));
    }
    findings
}

fn missing(name: &str, remedies: &Remedies) -> Finding {
    let finding = Finding::problem(name, "the table does not exist");
    match (remedies.is_of_stack(), remedies.make_tables()) {
        (true, _) => finding.section(section::RESTORE),
        (false, Some(command)) => finding.remedy(command).section(section::FIRST_IMPORT_AND_KEY),
        (false, None) => {
            let remedy = "create it as template.yaml defines it";
            finding.remedy(remedy).section(section::FIRST_IMPORT_AND_KEY)
        }
    }
}

fn not_recoverable(name: &str, holds_keys: bool) -> Finding {
    let state = if holds_keys { State::Problem } else { State::Warning };
    Finding::new(state, name, "point-in-time recovery is off, so it cannot be restored")
        .remedy(format!(
            "aws dynamodb update-continuous-backups --table-name {name} \
             --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        ))
        .section(section::RESTORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprotected_tables_are_reported_with_the_command_that_protects_them() {
        let table = |is_protected| {
            let builder = TableDescription::builder();
            Ok(Some(builder.deletion_protection_enabled(is_protected).build()))
        };
        let denied = || ExaminationError::Denied("not authorized".to_owned());
        for (table, holds_keys, is_recoverable, has_keys, expected) in [
            (table(true), true, Ok(true), true, vec!["ok"]),
            (table(true), true, Ok(false), true, vec!["problem --point-in-time"]),
            (table(true), false, Ok(false), true, vec!["warning --point-in-time"]),
            (table(false), true, Ok(true), true, vec!["warning --deletion-protection-enabled"]),
            (table(false), true, Ok(true), false, vec!["note --deletion-protection-enabled"]),
            (table(false), false, Err(denied()), false, vec!["note --deletion", "unknown"]),
            (Ok(None), false, Err(denied()), true, vec!["problem"]),
            (Err(denied()), false, Ok(true), true, vec!["unknown"]),
        ] {
            let (name, is_recoverable) = ("numbers-x".to_owned(), Some(is_recoverable));
            let facts = TableFacts { name, holds_keys, table, is_recoverable };
            let found = findings(&[facts], has_keys, &Remedies::for_stack("numbers"));
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (finding, expected) in found.iter().zip(expected) {
                let (state, option) = expected.split_once(' ').unwrap_or((expected, ""));
                let remedy = finding.remedy.as_deref().unwrap_or_default();
                assert!(finding.state.word() == state && remedy.contains(option), "{finding:?}");
                assert_eq!(remedy.is_empty(), option.is_empty(), "{finding:?}");
            }
        }
    }
}
