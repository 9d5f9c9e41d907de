//! What the template deploys: least privilege, protected tables, logs that end, alarms that reach
//! somebody.

use std::collections::{BTreeMap, BTreeSet};

use tnr::{database::Database, template};
use yaml_serde::Value;

const API_FUNCTIONS: [&str; 5] =
    ["CarriersFunction", "NpaFunction", "FormatFunction", "SearchFunction", "StatusFunction"];

fn resources() -> BTreeMap<String, Value> {
    let template: Value = yaml_serde::from_str(include_str!("../../../../template.yaml")).unwrap();
    let resources = template["Resources"].as_mapping().unwrap();
    resources.iter().map(|(name, it)| (name.as_str().unwrap().to_owned(), it.clone())).collect()
}

fn of_type(kind: &str) -> Vec<(String, Value)> {
    resources().into_iter().filter(|(_, resource)| resource["Type"] == *kind).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::Tagged(tagged) => text(&tagged.value),
        plain => plain.as_str().unwrap_or_else(|| panic!("{plain:?}")).to_owned(),
    }
}

fn one_or_many(value: &Value) -> Vec<String> {
    value.as_sequence().map_or_else(|| vec![text(value)], |many| many.iter().map(text).collect())
}

/// What a function may do, as `action resource`.
fn permissions(function: &Value) -> BTreeSet<String> {
    let policies = function["Properties"]["Policies"].as_sequence().unwrap();
    let statements =
        policies.iter().flat_map(|policy| policy["Statement"].as_sequence().unwrap().clone());
    statements
        .flat_map(|statement| {
            assert_eq!(statement["Effect"], "Allow");
            let resources = one_or_many(&statement["Resource"]);
            one_or_many(&statement["Action"]).into_iter().flat_map(move |action| {
                let resources = resources.clone().into_iter();
                resources.map(move |resource| format!("{action} {resource}")).collect::<Vec<_>>()
            })
        })
        .collect()
}

#[test]
fn each_function_may_do_what_it_does_and_no_more() {
    let get = |table: &str| format!("dynamodb:GetItem {table}Table.Arn");
    let list = "dynamodb:BatchGetItem DatasetTable.Arn".to_owned();
    let count = ["UpdateItem", "BatchGetItem"];
    let [count, read_counts] = count.map(|action| format!("dynamodb:{action} UsageTable.Arn"));
    let keyed = [get("ApiKeys"), get("Dataset"), list.clone(), count, read_counts];
    let keyed_and = |tables: &[&str]| -> BTreeSet<String> {
        keyed.iter().cloned().chain(tables.iter().map(|table| get(table))).collect()
    };
    let dataset = ["GetItem", "BatchGetItem", "PutItem", "DeleteItem", "Scan"]
        .map(|action| format!("dynamodb:{action} DatasetTable.Arn"));
    let ingest = dataset.into_iter().chain([
        "dynamodb:BatchWriteItem CarriersTable.Arn".to_owned(),
        "dynamodb:BatchWriteItem ExchangesTable.Arn".to_owned(),
        "dynamodb:Scan CarriersTable.Arn".to_owned(),
        "dynamodb:Scan ExchangesTable.Arn".to_owned(),
        "s3:GetObject ${DataBucket.Arn}/*".to_owned(),
    ]);
    let expected = BTreeMap::from([
        ("CarriersFunction", keyed_and(&["Carriers"])),
        ("NpaFunction", keyed_and(&["Exchanges"])),
        ("FormatFunction", keyed_and(&["Exchanges"])),
        ("SearchFunction", keyed_and(&[])),
        ("StatusFunction", BTreeSet::from([get("Dataset")])),
        ("IngestFunction", ingest.collect()),
    ]);
    let functions = of_type("AWS::Serverless::Function");
    assert_eq!(functions.len(), expected.len());
    for (name, function) in functions {
        assert_eq!(permissions(&function), expected[name.as_str()], "{name}");
    }
}

#[test]
fn every_table_is_on_demand_encrypted_backed_up_and_not_to_be_deleted() {
    let tables = of_type("AWS::DynamoDB::Table");
    assert_eq!(tables.len(), 5);
    for (name, table) in tables {
        let properties = &table["Properties"];
        assert_eq!(table["DeletionPolicy"], "Retain", "{name}");
        assert_eq!(properties["BillingMode"], "PAY_PER_REQUEST", "{name}");
        assert_eq!(properties["DeletionProtectionEnabled"], true, "{name}");
        assert_eq!(properties["SSESpecification"]["SSEEnabled"], true, "{name}");
        let recovery = &properties["PointInTimeRecoverySpecification"];
        assert_eq!(recovery["PointInTimeRecoveryEnabled"], true, "{name}");
    }
}

#[test]
fn every_function_logs_json_into_a_group_that_forgets() {
    let groups = of_type("AWS::Logs::LogGroup");
    for (name, group) in &groups {
        assert_eq!(text(&group["Properties"]["RetentionInDays"]), "LogRetention", "{name}");
    }
    let groups: BTreeSet<String> = groups.into_iter().map(|(name, _)| name).collect();
    let mut used = BTreeSet::new();
    for (name, function) in of_type("AWS::Serverless::Function") {
        let logging = &function["Properties"]["LoggingConfig"];
        assert_eq!(logging["LogFormat"], "JSON", "{name}");
        used.insert(text(&logging["LogGroup"]));
    }
    assert_eq!(used, groups);
}

#[test]
fn a_new_version_takes_over_gradually_and_an_alarm_brings_the_old_one_back() {
    let resources = resources();
    for name in API_FUNCTIONS {
        let properties = &resources[name]["Properties"];
        assert_eq!(properties["AutoPublishAlias"], "live", "{name}");
        let preference = &properties["DeploymentPreference"];
        assert_eq!(text(&preference["Type"]), "DeploymentStyle", "{name}");
        let alarms = one_or_many(&preference["Alarms"]);
        let [alarm] = alarms.as_slice() else { panic!("{alarms:?}") };
        let watched = resources[alarm]["Properties"]["Metrics"].as_sequence().unwrap();
        let watched = watched.iter().filter(|metric| metric["MetricStat"].is_mapping());
        for metric in watched {
            let dimension = &metric["MetricStat"]["Metric"]["Dimensions"][0]["Value"];
            assert_eq!(text(dimension), name, "{alarm}");
        }
    }
}

#[test]
fn every_alarm_tells_somebody_and_is_explained() {
    let operations = include_str!("../../../../docs/OPERATIONS.md");
    let alarms = of_type("AWS::CloudWatch::Alarm");
    assert!(alarms.len() >= 10, "{}", alarms.len());
    for (name, alarm) in alarms {
        let properties = &alarm["Properties"];
        assert_eq!(one_or_many(&properties["AlarmActions"]), ["AlarmTopic"], "{name}");
        let description = text(&properties["AlarmDescription"]);
        let heading = description.rsplit("OPERATIONS.md, ").next().unwrap();
        assert!(operations.contains(&format!("### {heading}\n")), "{name}: {heading}");
    }
}

/// The metrics that alarms and dashboard read are those that the functions write.
#[test]
fn metrics_are_written_under_the_names_they_are_read_by() {
    let template = include_str!("../../../../template.yaml");
    let telemetry = include_str!("../../../../shared/src/telemetry.rs");
    let import = include_str!("../../../../functions/ingest/src/lambda.rs");
    let ours = format!("\"{}\", \"", logging::NAMESPACE);
    let of_dashboard = template.split(&ours).skip(1).map(|rest| rest.split('"').next().unwrap());
    let names: BTreeSet<&str> = of_dashboard.chain(["ServerErrors", "ImportSucceeded"]).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let written = format!("\"{name}\"");
        assert!(telemetry.contains(&written) || import.contains(&written), "{name}");
    }
}

#[tokio::test]
async fn two_programs_may_create_the_tables_at_once() {
    let database = Database::in_memory().await.unwrap();
    let store = database.store();
    let (client, names) = store.parts();
    let tables = [&names.carriers, &names.exchanges, &names.dataset, &names.api_keys, &names.usage];
    for table in tables {
        client.delete_table().table_name(table).send().await.unwrap();
    }
    let create = || template::create_missing_tables(&store);
    tokio::try_join!(create(), create()).unwrap();
    create().await.unwrap();
    let there = client.list_tables().send().await.unwrap();
    assert!(tables.iter().all(|table| there.table_names().contains(*table)), "{there:?}");
}
