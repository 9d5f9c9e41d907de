//! The template: least privilege, protected tables, expiring logs, and alarms that notify somebody.

use std::collections::{BTreeMap, BTreeSet};

use tnr::database::{Database, tables::create_missing};

use crate::support::template::{
    Function, TEXT, api_functions, deployment_alarms, functions, resources, resources_of_type,
    text, texts,
};

/// A function's permissions, as `action resource`.
fn permissions(function: &Function) -> BTreeSet<String> {
    let policies = function.properties["Policies"].as_sequence().into_iter().flatten();
    let statements = policies.flat_map(|policy| policy["Statement"].as_sequence().unwrap().clone());
    statements
        .flat_map(|statement| {
            assert_eq!(statement["Effect"], "Allow");
            let resources = texts(&statement["Resource"]);
            texts(&statement["Action"]).into_iter().flat_map(move |action| {
                let resources = resources.clone().into_iter();
                resources.map(move |resource| format!("{action} {resource}")).collect::<Vec<_>>()
            })
        })
        .collect()
}

#[test]
fn functions_have_only_the_permissions_they_need() {
    let get = |table: &str| format!("dynamodb:GetItem {table}Table.Arn");
    let list = "dynamodb:BatchGetItem DatasetTable.Arn".to_owned();
    let count = ["UpdateItem", "BatchGetItem"];
    let [count, read_counts] = count.map(|action| format!("dynamodb:{action} UsageTable.Arn"));
    let keyed = [get("ApiKeys"), get("Dataset"), list, count, read_counts];
    let keyed_and = |tables: &[&str]| -> BTreeSet<String> {
        keyed.iter().cloned().chain(tables.iter().map(|table| get(table))).collect()
    };
    let read_many = BTreeSet::from(["dynamodb:BatchGetItem ExchangesTable.Arn".to_owned()]);
    let dataset = ["GetItem", "BatchGetItem", "PutItem", "DeleteItem", "Scan"]
        .map(|action| format!("dynamodb:{action} DatasetTable.Arn"));
    let ingest = dataset.into_iter().chain([
        "dynamodb:BatchWriteItem CarriersTable.Arn".to_owned(),
        "dynamodb:BatchWriteItem ExchangesTable.Arn".to_owned(),
        "dynamodb:Scan CarriersTable.Arn".to_owned(),
        "dynamodb:Scan ExchangesTable.Arn".to_owned(),
        "s3:GetObject ${DataBucket.Arn}/*".to_owned(),
    ]);
    let mut mcp = keyed_and(&["Carriers", "Exchanges"]);
    mcp.insert("dynamodb:BatchGetItem ExchangesTable.Arn".to_owned());
    let invoke = api_functions().into_iter();
    let invoke =
        invoke.map(|function| format!("lambda:InvokeFunction ${{{}.Arn}}:*", function.resource));
    let report = "codedeploy:PutLifecycleEventHookExecutionStatus \
                  arn:${AWS::Partition}:codedeploy:${AWS::Region}:${AWS::AccountId}:deploymentgroup:\
                  ${ServerlessDeploymentApplication}/*";
    let expected = BTreeMap::from([
        ("carriers", keyed_and(&["Carriers"])),
        ("npa", keyed_and(&["Exchanges"])),
        ("format", &keyed_and(&["Exchanges"]) | &read_many),
        ("search", keyed_and(&[])),
        ("status", BTreeSet::from([get("Dataset")])),
        ("site", BTreeSet::new()),
        ("mcp", mcp),
        ("ingest", ingest.collect()),
        ("probe", invoke.chain([report.to_owned()]).collect()),
    ]);
    let functions = functions();
    assert_eq!(functions.len(), expected.len());
    for function in functions {
        let Function { binary, .. } = &function;
        let expected = expected.get(binary.as_str());
        let expected = expected.unwrap_or_else(|| panic!("this test does not know {binary}"));
        assert_eq!(permissions(&function), *expected, "{binary}");
    }
}

/// Otherwise responses would differ from the local server's, and from the tests'.
#[test]
fn cors_is_handled_by_the_functions_and_not_by_api_gateway() {
    for (name, api) in resources_of_type("AWS::Serverless::HttpApi") {
        assert!(api["Properties"]["CorsConfiguration"].is_null(), "{name}");
    }
    let template: yaml_serde::Value = yaml_serde::from_str(TEXT).unwrap();
    let variables = &template["Globals"]["Function"]["Environment"]["Variables"];
    assert_eq!(text(&variables["CORS_ORIGINS"]), "CorsOrigins");
    assert_eq!(template["Parameters"]["CorsOrigins"]["Default"], "*");
}

#[test]
fn tables_are_on_demand_encrypted_backed_up_and_outlive_their_stack() {
    let tables = resources_of_type("AWS::DynamoDB::Table");
    assert_eq!(tables.len(), 5);
    for (name, table) in tables {
        let properties = &table["Properties"];
        assert_eq!(table["DeletionPolicy"], "RetainExceptOnCreate", "{name}");
        assert_eq!(table["UpdateReplacePolicy"], "Retain", "{name}");
        assert_eq!(properties["BillingMode"], "PAY_PER_REQUEST", "{name}");
        assert_eq!(properties["SSESpecification"]["SSEEnabled"], true, "{name}");
        let recovery = &properties["PointInTimeRecoverySpecification"];
        assert_eq!(recovery["PointInTimeRecoveryEnabled"], true, "{name}");
    }
}

#[test]
fn every_log_group_is_used_and_has_the_configured_retention() {
    let by_api = &resources()["Api"]["Properties"]["AccessLogSettings"]["DestinationArn"];
    let by_api = text(by_api).trim_end_matches(".Arn").to_owned();
    let used: BTreeSet<String> = functions()
        .iter()
        .map(|function| text(&function.properties["LoggingConfig"]["LogGroup"]))
        .chain([by_api])
        .collect();
    for (name, group) in resources_of_type("AWS::Logs::LogGroup") {
        assert_eq!(text(&group["Properties"]["RetentionInDays"]), "LogRetention", "{name}");
        assert!(used.contains(name), "nothing logs into {name}");
    }
}

#[test]
fn new_versions_deploy_gradually_and_alarms_roll_them_back() {
    for function in api_functions() {
        let name = &function.resource;
        assert_eq!(function.properties["AutoPublishAlias"], "live", "{name}");
        let preference = &function.properties["DeploymentPreference"];
        assert_eq!(text(&preference["Type"]), "DeploymentStyle", "{name}");
        let alarms = deployment_alarms(&function);
        assert!(!alarms.is_empty(), "{name}");
        for alarm in alarms {
            let metrics = resources()[&alarm]["Properties"]["Metrics"].as_sequence().unwrap();
            let watched = metrics.iter().filter(|metric| metric["MetricStat"].is_mapping());
            for metric in watched {
                let dimension = &metric["MetricStat"]["Metric"]["Dimensions"][0]["Value"];
                assert_eq!(text(dimension), *name, "{alarm}");
            }
        }
    }
}

/// CodeDeploy's role may invoke only functions with this name prefix (AWSCodeDeployRoleForLambda and
/// AWSCodeDeployRoleForLambdaLimited).
#[test]
fn the_probe_checks_every_new_version_before_traffic_shifts() {
    let probe = functions().into_iter().find(|function| function.binary == "probe").unwrap();
    assert!(text(&probe.properties["FunctionName"]).starts_with("CodeDeployHook_"));
    assert!(probe.properties["AutoPublishAlias"].is_null(), "the probe has no versions");
    let variables = probe.properties["Environment"]["Variables"].as_mapping().unwrap();
    let mut known: BTreeSet<(String, String)> =
        variables.iter().map(|(name, value)| (text(name), text(value))).collect();
    for function in api_functions() {
        let hooks = &function.properties["DeploymentPreference"]["Hooks"];
        let hook = texts(&hooks["PreTraffic"]);
        let unless_at_once = ["GuardsDeployments", &probe.resource, "AWS::NoValue"];
        assert_eq!(hook, unless_at_once, "{}", function.resource);
        let asked = probe::Function::ALL.iter().find(|it| it.name() == function.binary);
        let variable =
            asked.unwrap_or_else(|| panic!("no check of {}", function.binary)).variable();
        let version = format!("{}.Version", function.resource);
        assert!(known.remove(&(variable, version)), "{}", function.resource);
    }
    assert!(known.is_empty(), "{known:?}");
}

/// CloudFormation refuses circular dependencies: the API depends on the aliases that it invokes, and these
/// on the probe, their hook. Linters miss the second dependency.
#[test]
fn the_probe_does_not_depend_on_the_api_or_an_alias() {
    let mut probe = functions().into_iter().find(|function| function.binary == "probe").unwrap();
    // The schedule's rule is a separate resource that nothing depends on.
    probe.properties.as_mapping_mut().unwrap().remove("Events");
    let properties = yaml_serde::to_string(&probe.properties).unwrap();
    for name in ["Ref Api\n", "${Api", "GetAtt Api", ".Alias", "Alarm", "DomainMapping"] {
        assert!(!properties.contains(name), "{name}: {properties}");
    }
}

#[test]
fn the_probe_has_enough_time_and_gets_the_api_address() {
    let probe = functions().into_iter().find(|function| function.binary == "probe").unwrap();
    // Health, statistics and search run in sequence, then two requests to each other function. Only one or
    // two of these can be slow before the checks must end.
    assert!(probe.properties["Timeout"].as_u64().unwrap() >= 60);
    let schedule = &probe.properties["Events"]["Scheduled"]["Properties"];
    assert_eq!(text(&schedule["Schedule"]), "rate(5 minutes)");
    let input: serde_json::Value = serde_json::from_str(&text(&schedule["Input"])).unwrap();
    let template: yaml_serde::Value = yaml_serde::from_str(TEXT).unwrap();
    assert_eq!(input["base_url"], text(&template["Outputs"]["BaseUrl"]["Value"]));
}

#[test]
fn every_alarm_notifies_somebody_and_is_documented() {
    let operations = include_str!("../../../../../docs/OPERATIONS.md");
    let alarms = resources_of_type("AWS::CloudWatch::Alarm");
    assert!(alarms.len() >= 10, "{}", alarms.len());
    for (name, alarm) in alarms {
        let properties = &alarm["Properties"];
        assert_eq!(texts(&properties["AlarmActions"]), ["AlarmTopic"], "{name}");
        let description = text(&properties["AlarmDescription"]);
        let heading = description.rsplit("OPERATIONS.md, ").next().unwrap();
        assert!(operations.contains(&format!("### {heading}\n")), "{name}: {heading}");
    }
}

#[tokio::test]
async fn tables_can_be_created_concurrently() {
    let database = Database::in_memory().await.unwrap();
    let store = database.store();
    let (client, names) = store.parts();
    let tables = [&names.carriers, &names.exchanges, &names.dataset, &names.api_keys, &names.usage];
    for table in tables {
        client.delete_table().table_name(table).send().await.unwrap();
    }
    let create = || create_missing(&store);
    tokio::try_join!(create(), create()).unwrap();
    create().await.unwrap();
    let present = client.list_tables().send().await.unwrap();
    assert!(tables.iter().all(|table| present.table_names().contains(*table)), "{present:?}");
}
