//! The tables: they exist, and on AWS they are protected from data loss.

use aws_sdk_dynamodb::{
    Client,
    types::{ContinuousBackupsStatus, PointInTimeRecoveryStatus, TableDescription, TableStatus},
};
use futures_util::future::join_all;
use store::Tables;

use super::{
    facts::{FactError, FactResult},
    finding::{Finding, State, section},
    remedies::Remedies,
};
use crate::keys::deletion_protection::table_names;

#[derive(Debug)]
pub struct TableFacts {
    pub name: String,
    /// `true` for the keys table, which no import can restore.
    pub holds_keys: bool,
    pub table: FactResult<Option<TableDescription>>,
    /// `true` with point-in-time recovery; `None` outside AWS.
    pub is_recoverable: Option<FactResult<bool>>,
}

pub async fn gather(client: &Client, tables: &Tables, is_aws: bool) -> Vec<TableFacts> {
    let facts = table_names(tables).map(async |name| {
        let recovery =
            async { if is_aws { Some(is_recoverable(client, name).await) } else { None } };
        let (table, is_recoverable) = tokio::join!(describe(client, name), recovery);
        let holds_keys = name == tables.api_keys;
        TableFacts { name: name.to_owned(), holds_keys, table, is_recoverable }
    });
    join_all(facts).await
}

async fn describe(client: &Client, name: &str) -> FactResult<Option<TableDescription>> {
    match client.describe_table().table_name(name).send().await {
        Ok(output) => Ok(output.table),
        Err(error) => match error.as_service_error() {
            Some(refusal) if refusal.is_resource_not_found_exception() => Ok(None),
            _ => Err(FactError::table("DescribeTable", name)(error)),
        },
    }
}

async fn is_recoverable(client: &Client, name: &str) -> FactResult<bool> {
    let output = client.describe_continuous_backups().table_name(name).send().await;
    let output = output.map_err(FactError::table("DescribeContinuousBackups", name))?;
    let backups = output.continuous_backups_description;
    let recovery = backups.as_ref().and_then(|backups| {
        let is_on = *backups.continuous_backups_status() == ContinuousBackupsStatus::Enabled;
        backups.point_in_time_recovery_description().filter(|_| is_on)
    });
    let status = recovery.and_then(|recovery| recovery.point_in_time_recovery_status());
    Ok(status == Some(&PointInTimeRecoveryStatus::Enabled))
}

/// Findings about the tables. Without keys there is little to protect.
pub fn findings(tables: &[TableFacts], has_keys: bool, remedies: &Remedies) -> Vec<Finding> {
    tables.iter().flat_map(|facts| table_findings(facts, has_keys, remedies)).collect()
}

fn table_findings(facts: &TableFacts, has_keys: bool, remedies: &Remedies) -> Vec<Finding> {
    let TableFacts { name, holds_keys, table, is_recoverable } = facts;
    let table = match table {
        Ok(Some(table)) => table,
        Ok(None) => return vec![missing_table(name, remedies)],
        Err(error) => return vec![error.finding(name)],
    };
    let Some(is_recoverable) = is_recoverable else { return vec![Finding::ok(name, "exists")] };
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
        Ok(false) => {
            let state = if *holds_keys { State::Problem } else { State::Warning };
            let message = "point-in-time recovery is off, so it cannot be restored";
            let finding = Finding::new(state, name, message).remedy(format!(
                "aws dynamodb update-continuous-backups --table-name {name} \
                 --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
            ));
            findings.push(finding.section(section::RESTORE));
        }
        Err(error) => findings.push(error.finding(name)),
    }
    if findings.is_empty() {
        findings.push(Finding::ok(name, "restorable and protected from deletion"));
    }
    findings
}

fn missing_table(name: &str, remedies: &Remedies) -> Finding {
    let finding = Finding::problem(name, "the table does not exist");
    if remedies.is_stack() {
        return finding.section(section::RESTORE);
    }
    let by_hand = || "create it as defined in template.yaml".to_owned();
    let remedy = remedies.create_tables().unwrap_or_else(by_hand);
    finding.remedy(remedy).section(section::FIRST_IMPORT_AND_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_protection_is_reported_with_the_command_that_enables_it() {
        for (is_protected, holds_keys, is_recoverable, has_keys, expected) in [
            (true, true, true, true, ("ok", "")),
            (true, true, false, true, ("problem", "--point-in-time")),
            (true, false, false, true, ("warning", "--point-in-time")),
            (false, true, true, true, ("warning", "--deletion-protection-enabled")),
            (false, true, true, false, ("note", "--deletion-protection-enabled")),
        ] {
            let table = TableDescription::builder().deletion_protection_enabled(is_protected);
            let (name, table) = ("numbers-x".to_owned(), Ok(Some(table.build())));
            let is_recoverable = Some(Ok(is_recoverable));
            let facts = TableFacts { name, holds_keys, table, is_recoverable };
            let found = findings(&[facts], has_keys, &Remedies::for_stack("numbers"));
            let (state, option) = expected;
            let remedy = found[0].remedy.as_deref().unwrap_or_default();
            assert!(found.len() == 1 && found[0].state.word() == state, "{found:?}");
            assert!(remedy.contains(option) && remedy.is_empty() == option.is_empty(), "{found:?}");
        }
    }
}
