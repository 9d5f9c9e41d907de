//! The tables: they exist, and on AWS they are protected from data loss.

use aws_sdk_dynamodb::{
    Client,
    types::{PointInTimeRecoveryStatus, TableDescription, TableStatus},
};
use futures_util::future::try_join_all;
use store::Store;

use super::{
    Findings, Remedies,
    finding::{Finding, State, section},
};
use crate::{
    CliError,
    database::tables::describe,
    error::{Cause, Context},
    keys::deletion_protection::table_names,
};

pub async fn check(store: &Store, remedies: &Remedies) -> Findings {
    let (client, tables) = store.parts();
    let checks = table_names(tables).map(async |name| {
        let failed = format!("DescribeTable on table {name} failed");
        let Some(table) = describe(client, name).await.context(failed)? else {
            return Ok(vec![missing_table(name, remedies)]);
        };
        if !remedies.is_stack() {
            return Ok(vec![Finding::ok(name, "exists")]);
        }
        let is_recoverable = is_recoverable(client, name).await?;
        Ok::<_, Cause>(findings(name, name == tables.api_keys, &table, is_recoverable))
    });
    Ok(try_join_all(checks).await?.concat())
}

async fn is_recoverable(client: &Client, name: &str) -> Result<bool, CliError> {
    let output = client.describe_continuous_backups().table_name(name).send().await;
    let output = output.context(format!("DescribeContinuousBackups on table {name} failed"))?;
    let recovery = output
        .continuous_backups_description
        .and_then(|backups| backups.point_in_time_recovery_description)
        .and_then(|recovery| recovery.point_in_time_recovery_status);
    Ok(recovery == Some(PointInTimeRecoveryStatus::Enabled))
}

/// Findings about a stack's table. No import can restore the one that holds keys.
fn findings(
    name: &str,
    holds_keys: bool,
    table: &TableDescription,
    is_recoverable: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(status) = table.table_status().map(TableStatus::as_str)
        && status != "ACTIVE"
    {
        findings.push(Finding::warning(name, format!("its status is '{status}'")));
    }
    if table.deletion_protection_enabled() != Some(true) {
        let finding = Finding::warning(name, "its deletion protection is off").remedy(format!(
            "aws dynamodb update-table --table-name {name} --deletion-protection-enabled"
        ));
        findings.push(finding.section(section::FIRST_IMPORT_AND_KEY));
    }
    if !is_recoverable {
        let state = if holds_keys { State::Problem } else { State::Warning };
        let message = "point-in-time recovery is off, so it cannot be restored";
        let finding = Finding::new(state, name, message).remedy(format!(
            "aws dynamodb update-continuous-backups --table-name {name} \
             --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        ));
        findings.push(finding.section(section::RESTORE));
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
    finding.remedy(remedies.create_tables()).section(section::FIRST_IMPORT_AND_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_protection_is_reported_with_the_command_that_enables_it() {
        for (is_protected, holds_keys, is_recoverable, expected) in [
            (true, true, true, (State::Ok, "")),
            (true, true, false, (State::Problem, "--point-in-time")),
            (true, false, false, (State::Warning, "--point-in-time")),
            (false, true, true, (State::Warning, "--deletion-protection-enabled")),
        ] {
            let table = TableDescription::builder().deletion_protection_enabled(is_protected);
            let found = findings("numbers-x", holds_keys, &table.build(), is_recoverable);
            let (state, option) = expected;
            let remedy = found[0].remedy.as_deref().unwrap_or_default();
            assert!(found.len() == 1 && found[0].state == state, "{found:?}");
            assert!(remedy.contains(option) && remedy.is_empty() == option.is_empty(), "{found:?}");
        }
    }
}
