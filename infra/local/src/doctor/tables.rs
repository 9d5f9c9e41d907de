//! The tables, against what the template says about them.

use aws_sdk_dynamodb::{
    Client,
    types::{
        ContinuousBackupsStatus, KeySchemaElement, PointInTimeRecoveryStatus, TableDescription,
        TableStatus, TimeToLiveStatus,
    },
};
use futures_util::future::join_all;
use store::Tables;
use yaml_serde::Value;

use super::{
    finding::{Finding, Section, State},
    look::{Look, LookError},
    remedies::Remedies,
    template_values::TemplateValues,
};
use crate::{LocalError, tables::name_of, template};

/// A table that there should be, and what it should be like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// Its name without the stack's.
    pub local_name: String,
    pub name: String,
    pub partition_key: String,
    pub is_on_demand: bool,
    pub is_recoverable: bool,
    pub is_encrypted: bool,
    /// The attribute with the time at which items are deleted.
    pub time_to_live: Option<String>,
}

/// A table as it is.
#[derive(Debug)]
pub struct TableFacts {
    pub expected: Expected,
    /// `None` if there is no such table.
    pub table: Look<Option<Actual>>,
    /// Whether it can be restored to any second; `None` where nobody asked.
    pub is_recoverable: Option<Look<bool>>,
    /// The attribute with the time at which items are deleted; `None` where nobody asked.
    pub time_to_live: Option<Look<Option<String>>>,
}

/// What DynamoDB says about a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actual {
    pub status: String,
    pub partition_key: String,
    pub is_on_demand: bool,
    pub is_encrypted: bool,
    pub is_protected: bool,
}

/// Where the tables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In AWS, which encrypts, restores and protects them.
    Aws,
    /// In a database for which only the names and keys of tables are set.
    Elsewhere,
}

/// The tables of the template, under the names that this deployment has for them.
pub fn expected(values: &TemplateValues, names: &Tables) -> Result<Vec<Expected>, LocalError> {
    let known = template::tables()?;
    let declared = values.resources_of_type("AWS::DynamoDB::Table").zip(known);
    declared
        .map(|((_, resource), table)| {
            let properties = &resource["Properties"];
            let is = |value: &Value| values.resolve(value).text().as_deref() == Some("true");
            let recovery = &properties["PointInTimeRecoverySpecification"];
            let time_to_live = &properties["TimeToLiveSpecification"];
            let billing = values.resolve(&properties["BillingMode"]).text();
            Ok(Expected {
                name: name_of(&table, names)?.to_owned(),
                local_name: table.name,
                partition_key: table.key,
                is_on_demand: billing.as_deref() == Some("PAY_PER_REQUEST"),
                is_recoverable: is(&recovery["PointInTimeRecoveryEnabled"]),
                is_encrypted: is(&properties["SSESpecification"]["SSEEnabled"]),
                time_to_live: is(&time_to_live["Enabled"])
                    .then(|| values.resolve(&time_to_live["AttributeName"]).text())
                    .flatten(),
            })
        })
        .collect()
}

/// Reads what DynamoDB says about each table, side by side.
pub async fn look(client: &Client, expected: Vec<Expected>, place: Place) -> Vec<TableFacts> {
    let looks = expected.into_iter().map(async |expected| {
        let name = expected.name.as_str();
        let (table, is_recoverable, time_to_live) = match place {
            Place::Elsewhere => (describe(client, name).await, None, None),
            Place::Aws => {
                let (table, recovery, time_to_live) = tokio::join!(
                    describe(client, name),
                    is_recoverable(client, name),
                    time_to_live(client, name)
                );
                (table, Some(recovery), Some(time_to_live))
            }
        };
        TableFacts { expected, table, is_recoverable, time_to_live }
    });
    join_all(looks).await
}

async fn describe(client: &Client, name: &str) -> Look<Option<Actual>> {
    match client.describe_table().table_name(name).send().await {
        Ok(answer) => Ok(answer.table().map(Actual::from)),
        Err(error) => match error.as_service_error() {
            Some(refusal) if refusal.is_resource_not_found_exception() => Ok(None),
            _ => Err(LookError::table("DescribeTable", name)(error)),
        },
    }
}

async fn is_recoverable(client: &Client, name: &str) -> Look<bool> {
    let answer = client.describe_continuous_backups().table_name(name).send().await;
    let answer = answer.map_err(LookError::table("DescribeContinuousBackups", name))?;
    let backups = answer.continuous_backups_description;
    let recovery = backups.as_ref().and_then(|backups| {
        let is_on = *backups.continuous_backups_status() == ContinuousBackupsStatus::Enabled;
        backups.point_in_time_recovery_description().filter(|_| is_on)
    });
    let status = recovery.and_then(|recovery| recovery.point_in_time_recovery_status());
    Ok(status == Some(&PointInTimeRecoveryStatus::Enabled))
}

async fn time_to_live(client: &Client, name: &str) -> Look<Option<String>> {
    let answer = client.describe_time_to_live().table_name(name).send().await;
    let answer = answer.map_err(LookError::table("DescribeTimeToLive", name))?;
    let Some(setting) = answer.time_to_live_description else { return Ok(None) };
    let is_on = matches!(
        setting.time_to_live_status(),
        Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)
    );
    Ok(setting.attribute_name.filter(|_| is_on))
}

impl From<&TableDescription> for Actual {
    fn from(table: &TableDescription) -> Self {
        let text = |status: Option<&str>| status.unwrap_or_default().to_owned();
        let billing = table.billing_mode_summary().and_then(|summary| summary.billing_mode());
        let encryption = table.sse_description().and_then(|encryption| encryption.status());
        Self {
            status: text(table.table_status().map(TableStatus::as_str)),
            partition_key: text(table.key_schema().first().map(KeySchemaElement::attribute_name)),
            is_on_demand: billing.is_some_and(|mode| mode.as_str() == "PAY_PER_REQUEST"),
            is_encrypted: encryption
                .is_some_and(|status| matches!(status.as_str(), "ENABLED" | "UPDATING")),
            is_protected: table.deletion_protection_enabled() == Some(true),
        }
    }
}

/// What is to be said of the tables. `has_keys` is whether there is a key, from which on there is
/// something to protect.
pub fn findings(
    tables: &[TableFacts],
    place: Place,
    has_keys: bool,
    remedies: &Remedies,
) -> Vec<Finding> {
    tables.iter().flat_map(|facts| of_table(facts, place, has_keys, remedies)).collect()
}

fn of_table(facts: &TableFacts, place: Place, has_keys: bool, remedies: &Remedies) -> Vec<Finding> {
    let TableFacts { expected, table, is_recoverable, time_to_live } = facts;
    let check = expected.name.as_str();
    let actual = match table {
        Ok(Some(actual)) => actual,
        Ok(None) => return vec![missing(expected, place, remedies)],
        Err(error) => return vec![error.finding(check)],
    };
    let mut findings: Vec<Finding> = of_description(expected, actual, place, has_keys);
    match is_recoverable {
        Some(Ok(false)) if expected.is_recoverable => findings.push(not_recoverable(expected)),
        Some(Err(error)) => findings.push(error.finding(check)),
        _ => (),
    }
    match time_to_live {
        Some(Ok(actual)) if *actual != expected.time_to_live => {
            findings.push(wrong_time_to_live(expected, actual.as_deref()));
        }
        Some(Err(error)) => findings.push(error.finding(check)),
        _ => (),
    }
    if findings.is_empty() {
        let message = match place {
            Place::Aws => "on demand, encrypted, restorable and protected from deletion",
            Place::Elsewhere => "is there",
        };
        findings.push(Finding::ok(check, message));
    }
    findings
}

fn of_description(
    expected: &Expected,
    actual: &Actual,
    place: Place,
    has_keys: bool,
) -> Vec<Finding> {
    let check = expected.name.as_str();
    let mut findings = Vec::new();
    if actual.partition_key != expected.partition_key {
        let message = format!(
            "its partition key is '{}' instead of '{}'; no such table can be used",
            actual.partition_key, expected.partition_key
        );
        findings.push(Finding::problem(check, message).section(Section::Restore));
    }
    if place == Place::Elsewhere {
        return findings;
    }
    if actual.status != "ACTIVE" {
        let message = format!("its status is '{}' instead of 'ACTIVE'", actual.status);
        findings.push(Finding::warning(check, message));
    }
    if expected.is_on_demand && !actual.is_on_demand {
        let message = "its capacity is provisioned instead of on demand, so it may throttle";
        findings.push(
            Finding::warning(check, message)
                .remedy(update(check, "--billing-mode PAY_PER_REQUEST"))
                .section(Section::Deploy),
        );
    }
    if expected.is_encrypted && !actual.is_encrypted {
        let message = "it is not encrypted with a key of the account";
        findings.push(
            Finding::warning(check, message)
                .remedy(update(check, "--sse-specification Enabled=true"))
                .section(Section::Deploy),
        );
    }
    if !actual.is_protected {
        findings.push(not_protected(check, has_keys));
    }
    findings
}

fn update(table: &str, options: &str) -> String {
    format!("aws dynamodb update-table --table-name {table} {options}")
}

fn missing(expected: &Expected, place: Place, remedies: &Remedies) -> Finding {
    let finding = Finding::problem(expected.name.as_str(), "the table does not exist");
    match place {
        Place::Elsewhere => match remedies.make_tables() {
            Some(command) => finding.remedy(command),
            None => finding.remedy("make it as template.yaml defines it"),
        }
        .section(Section::FirstImportAndKey),
        Place::Aws => finding.section(Section::Restore),
    }
}

fn not_protected(table: &str, has_keys: bool) -> Finding {
    let message = "its deletion protection is off";
    let state = if has_keys { State::Warning } else { State::Note };
    Finding::new(state, table, message)
        .remedy(update(table, "--deletion-protection-enabled"))
        .section(Section::FirstImportAndKey)
}

fn not_recoverable(expected: &Expected) -> Finding {
    let name = expected.name.as_str();
    // Imports can make the other tables again.
    let holds_what_nobody_can_make_again = expected.local_name == "api_keys";
    let state = if holds_what_nobody_can_make_again { State::Problem } else { State::Warning };
    Finding::new(state, name, "point-in-time recovery is off, so it cannot be restored")
        .remedy(format!(
            "aws dynamodb update-continuous-backups --table-name {name} \
             --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        ))
        .section(Section::Restore)
}

fn wrong_time_to_live(expected: &Expected, actual: Option<&str>) -> Finding {
    let name = expected.name.as_str();
    let told = |attribute: Option<&str>| {
        attribute.map_or("off".to_owned(), |attribute| format!("by '{attribute}'"))
    };
    let wanted = expected.time_to_live.as_deref();
    let message = format!("its TTL is {} instead of {}", told(actual), told(wanted));
    let (attribute, is_on) = match wanted {
        Some(attribute) => (attribute, true),
        None => (actual.unwrap_or_default(), false),
    };
    Finding::warning(name, message)
        .remedy(format!(
            "aws dynamodb update-time-to-live --table-name {name} \
             --time-to-live-specification Enabled={is_on},AttributeName={attribute}"
        ))
        .section(Section::Deploy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage() -> TableFacts {
        let values = TemplateValues::of_defaults().unwrap();
        let tables = expected(&values, &Tables::of_stack("numbers")).unwrap();
        let expected = tables.into_iter().find(|table| table.name == "numbers-usage").unwrap();
        assert_eq!(expected.time_to_live.as_deref(), Some("expires_at"));
        assert!(expected.is_on_demand && expected.is_recoverable && expected.is_encrypted);
        let actual = Actual {
            status: "ACTIVE".to_owned(),
            partition_key: "id".to_owned(),
            is_on_demand: true,
            is_encrypted: true,
            is_protected: true,
        };
        TableFacts {
            table: Ok(Some(actual)),
            is_recoverable: Some(Ok(true)),
            time_to_live: Some(Ok(Some("expires_at".to_owned()))),
            expected,
        }
    }

    fn found(facts: TableFacts, has_keys: bool) -> Vec<Finding> {
        findings(&[facts], Place::Aws, has_keys, &Remedies::of_stack("numbers"))
    }

    fn only(facts: TableFacts) -> (State, String, String) {
        let mut found = found(facts, true);
        assert_eq!(found.len(), 1, "{found:?}");
        let Finding { state, message, remedy, .. } = found.remove(0);
        (state, message, remedy.unwrap_or_default())
    }

    #[test]
    fn a_table_as_the_template_defines_it_is_all_right() {
        assert_eq!(only(usage()).0, State::Ok);
    }

    #[test]
    fn each_setting_that_is_off_is_named_with_the_command_that_switches_it_on() {
        let (state, message, remedy) = only(TableFacts { time_to_live: Some(Ok(None)), ..usage() });
        assert_eq!(
            (state, message.as_str()),
            (State::Warning, "its TTL is off instead of by 'expires_at'")
        );
        assert!(remedy.contains("Enabled=true,AttributeName=expires_at"), "{remedy}");
        let (state, _, remedy) = only(TableFacts { is_recoverable: Some(Ok(false)), ..usage() });
        assert_eq!(state, State::Warning);
        assert!(remedy.contains("--table-name numbers-usage --point-in-time"), "{remedy}");
        let with = |change: fn(&mut Actual)| {
            let mut facts = usage();
            change(facts.table.as_mut().unwrap().as_mut().unwrap());
            only(facts)
        };
        assert!(with(|table| table.is_encrypted = false).2.contains("--sse-specification"));
        assert!(with(|table| table.is_on_demand = false).2.contains("PAY_PER_REQUEST"));
        assert!(
            with(|table| table.is_protected = false).2.ends_with("--deletion-protection-enabled")
        );
        assert_eq!(with(|table| table.partition_key = "key".to_owned()).0, State::Problem);
    }

    #[test]
    fn keys_that_cannot_be_restored_are_a_problem() {
        let mut facts = TableFacts { is_recoverable: Some(Ok(false)), ..usage() };
        facts.expected.local_name = "api_keys".to_owned();
        assert_eq!(only(facts).0, State::Problem);
    }

    #[test]
    fn protection_that_is_off_is_only_noted_until_there_is_a_key() {
        let mut facts = usage();
        facts.table.as_mut().unwrap().as_mut().unwrap().is_protected = false;
        assert_eq!(found(facts, false)[0].state, State::Note);
    }

    #[test]
    fn a_missing_table_is_a_problem_and_a_missing_permission_is_no_end() {
        assert_eq!(only(TableFacts { table: Ok(None), ..usage() }).0, State::Problem);
        let denied = || LookError::Denied("not authorized".to_owned());
        let facts = TableFacts {
            is_recoverable: Some(Err(denied())),
            time_to_live: Some(Ok(None)),
            ..usage()
        };
        let states: Vec<State> = found(facts, true).iter().map(|finding| finding.state).collect();
        assert_eq!(states, [State::Unknown, State::Warning]);
    }
}
