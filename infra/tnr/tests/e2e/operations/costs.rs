//! Tests that the figures in `tnr costs` match measured requests, template.yaml and edge.yaml.

use std::collections::BTreeSet;

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use store::Table;
use tnr::operate::costs::{REQUESTS, RequestKind, UNKNOWN_KEY, measure};

use super::database_cost::{units, warm_service};
use crate::support::{
    api_events::HOST,
    databases,
    fault_proxy::FaultProxy,
    service::{KEY, http_client},
    template::{Function, functions, routes, template, text},
};

/// The maximum relative error in a stated size.
const TOLERANCE: f64 = 0.15;
/// The longest ID that each number in a full batch can have. Each character takes six bytes in JSON.
const MAX_ID: [char; 82] = ['\u{1}'; 82];

/// Asserts that a measure is accurate.
pub fn assert_measured(name: &str, measured: f64) {
    assert_accurate(name, measure(name), measured);
}

fn assert_accurate(what: &str, stated: f64, measured: f64) {
    assert!(
        (measured - stated).abs() <= TOLERANCE * measured,
        "{what} is {measured}, not {stated}: correct it in infra/tnr/src/operate/costs, \
         and docs/COSTS.md"
    );
}

/// The uncompressed size of a response.
async fn response_bytes(response: Response) -> f64 {
    let headers = response.headers().iter();
    let headers: usize = headers.map(|(name, it)| name.as_str().len() + it.len() + 4).sum();
    (headers + response.bytes().await.unwrap().len()) as f64
}

/// Builds a request of this kind to the service at this address. Batches contain as many numbers as
/// allowed, all from one exchange.
fn request(base_url: &str, kind: &RequestKind) -> RequestBuilder {
    let url = format!("{base_url}{}", kind.target);
    let numbers = |count| (1000..1000 + count).map(|line| format!("+1212234{line}"));
    let body = match kind.route.as_str() {
        "/v1/format" => {
            let id = String::from_iter(MAX_ID);
            Some(numbers(1000).map(|tn| json!({ "tn": tn, "id": id })).collect())
        }
        "/v1/find" => Some(json!({ "text": numbers(1000).collect::<Vec<_>>().join(" ") })),
        "/mcp" => {
            let arguments = json!({ "numbers": numbers(25).collect::<Vec<_>>(), "include": "all" });
            let call = json!({ "name": "format_number", "arguments": arguments });
            Some(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }))
        }
        _ => None,
    };
    let accept = if kind.route == "/" { "text/html" } else { "*/*" };
    let request = match body {
        Some(body) => http_client().post(&url).json::<Value>(&body),
        None => http_client().get(&url).header("accept", accept),
    };
    let unknown = tnr::keys::random(shared::auth::KeyKind::Live).unwrap();
    let key = if kind.route == UNKNOWN_KEY { unknown.reveal() } else { KEY };
    request.bearer_auth(key).header("host", HOST).header("x-forwarded-proto", "https")
}

/// The database cost tests cover batches that read several exchanges.
#[tokio::test]
async fn response_sizes_and_read_units_match_the_costs() {
    let sample = databases::with_sample().await;
    let proxy = FaultProxy::transparent(sample.endpoint()).await;
    // The sample has only one version. Changes are measured with the published reports.
    for kind in REQUESTS.iter().filter(|kind| kind.route != "/v1/changes") {
        let service = warm_service(&proxy).await;
        let request = request(&service.base_url, kind);
        let response = request.send().await.unwrap();
        let status = if kind.route == UNKNOWN_KEY { 401 } else { 200 };
        assert_eq!(response.status(), status, "{}", kind.name);
        let bytes = response_bytes(response).await;
        let read = units(&proxy.take_completed());
        assert_accurate(&kind.name, kind.response_bytes, bytes);
        match kind.route.as_str() {
            "/v1/format" | "/v1/find" | "/mcp" => assert_eq!(read, 0.5, "{}", kind.name),
            _ => assert_eq!(read, kind.read_units, "{}", kind.name),
        }
    }
}

#[tokio::test]
async fn lookup_item_sizes_match_the_costs() {
    let store = databases::with_sample().await.store();
    let (client, tables) = store.parts();
    let (mut items, mut bytes) = (0, 0);
    for table in Table::LOOKUPS {
        let described =
            client.describe_table().table_name(tables.name(table)).send().await.unwrap();
        let table = described.table.unwrap();
        items += table.item_count.unwrap();
        bytes += table.table_size_bytes.unwrap();
    }
    assert_measured("item_bytes", bytes as f64 / items as f64);
}

#[test]
fn the_template_matches_the_costs() {
    let api_functions: BTreeSet<String> = routes().into_iter().map(|it| it.function).collect();
    let functions = functions();
    let reads_keys = |function: &&Function| {
        let policies = yaml_serde::to_string(&function.properties["Policies"]).unwrap();
        api_functions.contains(&function.binary) && policies.contains("ApiKeysTable")
    };
    let edge: yaml_serde::Value =
        yaml_serde::from_str(include_str!("../../../../../edge.yaml")).unwrap();
    let rules = edge["Resources"]["Firewall"]["Properties"]["Rules"].as_sequence().unwrap();
    let import = functions.iter().find(|function| function.binary == "ingest").unwrap();
    let memory = &template()["Globals"]["Function"]["MemorySize"];
    for (name, deployed) in [
        ("api_functions", Some(api_functions.len() as f64)),
        ("keyed_functions", Some(functions.iter().filter(reads_keys).count() as f64)),
        ("edge_rules", Some(rules.len() as f64)),
        ("memory_mb", memory.as_f64()),
        ("import_memory_mb", import.properties["MemorySize"].as_f64()),
    ] {
        assert_eq!(Some(measure(name)), deployed, "{name}");
    }
}

#[test]
fn worst_day_limits_match_the_template() {
    let api = &template()["Resources"]["Api"]["Properties"];
    let group = |name: &str| {
        let kind = REQUESTS.iter().find(|kind| kind.route == name)?;
        Some((kind.rate, kind.keyless_rate))
    };
    let (mut keyed, mut other_keyed, mut other_public) = (0.0, 0.0, 0.0);
    for (route, settings) in api["RouteSettings"].as_mapping().unwrap() {
        let parameter = text(&settings["ThrottlingRateLimit"]);
        let rate = template()["Parameters"][&*parameter]["Default"].as_f64().unwrap();
        let is_public = parameter == "PublicThrottlingRate";
        let keyless_rate = if is_public { rate } else { 0.0 };
        keyed += rate - keyless_rate;
        match group(route.as_str().unwrap().trim_start_matches("ANY ")) {
            Some(stated) => assert_eq!(stated, (rate, keyless_rate), "{route:?}"),
            None if is_public => other_public += rate,
            None => other_keyed += rate,
        }
    }
    assert_eq!(group(UNKNOWN_KEY), Some((0.0, keyed)));
    assert_eq!(group("others with a key"), Some((other_keyed, 0.0)));
    assert_eq!(group("others without a key"), Some((other_public, other_public)));

    let format = api["AccessLogSettings"]["Format"].as_str().unwrap();
    let mut parts = format.split("$context.");
    let start = parts.next().unwrap().len();
    // Each value is followed by a quote, and takes nine bytes on average.
    let bytes: usize = parts.map(|part| 9 + part.len() - part.find('"').unwrap()).sum();
    assert_measured("gateway_log_bytes", (start + bytes) as f64);
}
