//! The template: least privilege, CORS, and a probe before each deployment. `.ci/deployment` tests the rest.

use std::collections::BTreeSet;

use tnr::database::{Database, tables::create_missing};

use crate::support::template::{
    Function, TEXT, api_functions, functions, resources_of_type, text, texts,
};

/// A function's permissions, as lines `function: action resource`.
fn permissions(function: &Function) -> BTreeSet<String> {
    let mut permissions = BTreeSet::new();
    for policy in function.properties["Policies"].as_sequence().into_iter().flatten() {
        for statement in policy["Statement"].as_sequence().unwrap() {
            assert_eq!(statement["Effect"], "Allow");
            let resources = texts(&statement["Resource"]);
            for action in texts(&statement["Action"]) {
                let of = |resource| format!("{}: {action} {resource}", function.binary);
                permissions.extend(resources.iter().map(of));
            }
        }
    }
    permissions
}

#[test]
fn functions_have_only_the_permissions_they_need() {
    let permissions: BTreeSet<String> = functions().iter().flat_map(permissions).collect();
    let permissions = Vec::from_iter(permissions).join("\n");
    insta::with_settings!({ snapshot_path => "tables" }, { insta::assert_snapshot!(permissions) });
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
        assert_eq!(function.properties["AutoPublishAlias"], "live", "{}", function.resource);
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
fn every_alarm_names_a_section_on_what_to_do() {
    let operations = include_str!("../../../../../docs/OPERATIONS.md");
    for (name, alarm) in resources_of_type("AWS::CloudWatch::Alarm") {
        let description = text(&alarm["Properties"]["AlarmDescription"]);
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
