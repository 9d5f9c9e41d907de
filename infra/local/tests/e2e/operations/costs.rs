//! The costs: the document is what the program computes, and it computes with what requests, starts and
//! imports really take.

use std::{fmt::Display, fs, path::Path};

use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tnr::operate::costs::{
    Bill, REQUESTS, RequestKind, Usage, markdown,
    measures::{
        ALARM_METRICS, ALARMS, API_FUNCTIONS, EDGE_RULES, GATEWAY_LOG_BYTES, IMPORT_MEMORY_MB,
        ITEM_BYTES, KEYED_FUNCTIONS, MEMORY_MB, METRIC_FILTERS, UNITS_OF_KEY_AND_MANIFEST,
        UNKNOWN_KEY_UNITS,
    },
    throttling_rate, units_of_snapshot,
};

use crate::support::{
    api_events::HOST,
    database_calls::{START, calls_of, operations, units},
    databases::{self, write_sample_into},
    fault_proxy::{Fault, FaultProxy},
    program::{Serving, program, program_on, stdout},
    service::{KEY, Service, http_client, shared_service},
    template::{TEXT, api_functions, functions, resources, resources_of_type},
};

/// The distance from a stated size that a measured one may have, as a share.
const TOLERANCE: f64 = 0.15;
/// The most numbers of `POST /v1/format` and of `format_numbers`.
const MAX_NUMBERS: usize = 1000;
const MAX_AGENT_NUMBERS: usize = 25;
/// A name that a client gives a number, as long as a body with the most numbers may have. Each character
/// takes six bytes in JSON.
const MAX_NAME: [char; 82] = ['\u{1}'; 82];

fn mismatch(what: impl Display, stated: f64, measured: f64) -> Option<String> {
    let is_right = (measured - stated).abs() <= TOLERANCE * measured;
    (!is_right).then(|| format!("{what} is {measured} and not {stated}"))
}

fn assert_none(mismatches: impl IntoIterator<Item = String>) {
    let mismatches: Vec<String> = mismatches.into_iter().collect();
    assert!(
        mismatches.is_empty(),
        "correct what infra/local/src/costs states, and make docs/COSTS.md anew:\n{}",
        mismatches.join("\n")
    );
}

/// Asserts that a stated size is right.
pub fn assert_measured(what: impl Display, stated: f64, measured: f64) {
    assert_none(mismatch(what, stated, measured));
}

/// The bytes of a success, without compression.
async fn bytes_of(response: Response) -> f64 {
    assert!(response.status().is_success(), "{}", response.url());
    let headers = response.headers().iter();
    let headers: usize = headers.map(|(name, it)| name.as_str().len() + it.len() + 4).sum();
    (headers + response.bytes().await.unwrap().len()) as f64
}

/// Valid numbers in as many exchanges, each of which needs a read.
async fn numbers(count: usize) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    for offset in (0..).step_by(100) {
        if numbers.len() >= count {
            break;
        }
        let page = format!("/v1/search?country=US&limit=100&offset={offset}");
        let page = shared_service().ok(&page).await;
        let rows = page["results"].as_array().unwrap();
        assert!(!rows.is_empty(), "the sample has only {offset} exchanges");
        let candidates = rows.iter().map(|row| {
            format!("+1{}{}1000", row["npa"].as_str().unwrap(), row["nxx"].as_str().unwrap())
        });
        let candidates: Vec<String> = candidates.collect();
        let body = json!(candidates).to_string();
        let answer = shared_service().post("/v1/format", "application/json", body).send().await;
        let answer: Value = answer.unwrap().json().await.unwrap();
        let results = answer["results"].as_array().unwrap();
        let is_valid = results.iter().map(|it| it["result"]["valid"] == true);
        let valid = candidates.into_iter().zip(is_valid);
        numbers.extend(valid.filter_map(|(number, is_valid)| is_valid.then_some(number)));
    }
    numbers.truncate(count);
    numbers
}

/// A request of the costs, to the service at this address.
async fn request(base_url: &str, kind: &RequestKind) -> RequestBuilder {
    let url = format!("{base_url}{}", kind.target);
    let post = |body: Value| {
        let request = http_client().post(&url).header("content-type", "application/json");
        request.body(body.to_string())
    };
    let request = match kind.route.as_str() {
        "/v1/format" => {
            let id = String::from_iter(MAX_NAME);
            let numbers = numbers(MAX_NUMBERS).await;
            post(numbers.into_iter().map(|tn| json!({ "tn": tn, "id": id })).collect())
        }
        "/mcp" => {
            let numbers = numbers(MAX_AGENT_NUMBERS).await;
            let arguments = json!({ "numbers": numbers, "include": "all" });
            let call = json!({ "name": "format_numbers", "arguments": arguments });
            post(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }))
        }
        "/" => http_client().get(&url).header("accept", "text/html"),
        _ => http_client().get(&url),
    };
    request.bearer_auth(KEY).header("host", HOST).header("x-forwarded-proto", "https")
}

/// Read units of the largest batch, a hundred numbers at a time: a busy machine would take longer for
/// all of them at once than a request waits for the database.
async fn units_of_batches(proxy: &FaultProxy) -> f64 {
    let service = Service::behind(proxy).await;
    calls_of(&service, proxy, "/v1/carriers").await;
    for some in numbers(MAX_NUMBERS).await.chunks(100) {
        let body = json!(some).to_string();
        let response = service.post("/v1/format", "application/json", body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
    }
    units(&proxy.take_answered())
}

#[test]
fn the_committed_costs_are_what_the_program_computes() {
    assert!(
        include_str!("../../../../../docs/COSTS.md") == markdown::document(),
        "run 'cargo run -- costs --markdown > costs.md && mv costs.md docs/COSTS.md'"
    );
}

#[tokio::test]
async fn each_request_reads_and_answers_what_the_costs_say() {
    let sample = databases::with_sample().await;
    let proxy = FaultProxy::before(sample.endpoint(), |_, _| Fault::None).await;
    let mut mismatches = Vec::new();
    for kind in REQUESTS.iter() {
        let service = Service::behind(&proxy).await;
        calls_of(&service, &proxy, "/v1/carriers").await;
        let request = request(&service.base_url, kind).await;
        proxy.take_answered();
        let bytes = bytes_of(request.send().await.unwrap()).await;
        let mut read = units(&proxy.take_answered());
        if kind.route == "/v1/format" {
            read = units_of_batches(&proxy).await;
        }
        mismatches.extend(mismatch(format!("a read of {}", kind.name), kind.read_units, read));
        mismatches.extend(mismatch(&kind.name, kind.response_bytes, bytes));
    }
    assert_none(mismatches);
}

#[tokio::test]
async fn each_request_logs_what_the_costs_say() {
    let data_dir = TempDir::new().unwrap();
    write_sample_into(data_dir.path());
    let mut command = program_on(&data_dir, &["--port", "0", "--key", KEY]);
    command.env("AWS_LAMBDA_FUNCTION_NAME", "numbers-CarriersFunction-AbCdEfGhIjKl");
    let serving = Serving::start(&mut command).await;
    // The first request is a cold start.
    for kind in [&REQUESTS[0]].into_iter().chain(REQUESTS.iter()) {
        let response = request(&serving.base_url, kind).await.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{}", kind.name);
    }
    let output = serving.output();
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with('{')).skip(1).collect();
    assert_eq!(lines.len(), REQUESTS.len(), "{output}");
    assert_none(
        REQUESTS
            .iter()
            .zip(lines)
            .filter_map(|(kind, line)| mismatch(&kind.name, kind.log_bytes, line.len() as f64)),
    );
}

#[tokio::test]
async fn no_page_or_image_is_larger_than_the_largest_of_the_costs() {
    let largest = REQUESTS.iter().find(|kind| kind.route == "others").unwrap().response_bytes;
    for list in
        ["/v1/npa/415?", "/v1/carriers?", "/v1/search?q=telephone&", "/v1/search?country=US&"]
    {
        let page = shared_service().get(&format!("{list}limit=100")).await;
        let bytes = bytes_of(page).await;
        assert!(bytes <= largest * (1.0 + TOLERANCE), "{list}: {bytes}");
    }
    let (path, _) = flags::images().max_by_key(|(_, image)| image.bytes.len()).unwrap();
    assert!(REQUESTS.iter().any(|kind| kind.target == format!("/flags/{path}")), "{path}");
}

#[tokio::test]
async fn a_cold_start_and_an_unknown_key_read_what_the_costs_say() {
    let sample = databases::with_sample().await;
    let proxy = FaultProxy::before(sample.endpoint(), |_, _| Fault::None).await;
    let service = Service::behind(&proxy).await;
    let snapshot = sample.store().manifest().await.unwrap().unwrap().current;
    let bytes = sample.store().snapshot(&snapshot).await.unwrap().len();
    proxy.take_answered();
    let calls = calls_of(&service, &proxy, "/v1/carriers").await;
    assert_eq!(operations(&calls), START);
    assert_eq!(units(&calls[..2]), UNITS_OF_KEY_AND_MANIFEST);
    assert_eq!(calls[2].units, units_of_snapshot(bytes as u32));

    let unknown = tnr::keys::random().unwrap();
    let request = service.request("/v1/carriers").bearer_auth(unknown.reveal());
    assert_eq!(request.send().await.unwrap().status(), 401);
    // A read that finds nothing counts like one of the smallest item.
    let calls = proxy.take_answered();
    assert_eq!(operations(&calls), ["GetItem"]);
    assert!(units(&calls) <= UNKNOWN_KEY_UNITS, "{calls:?}");
}

#[tokio::test]
async fn lookup_items_are_as_large_as_the_costs_say() {
    let sample = databases::with_sample().await;
    let store = sample.store();
    let (client, tables) = store.parts();
    let (mut items, mut bytes) = (0, 0);
    for table in [&tables.carriers, &tables.exchanges] {
        let mut pages = client.scan().table_name(table).into_paginator().items().send();
        while let Some(item) = pages.next().await {
            items += 1;
            bytes += size_of_map(&item.unwrap());
        }
    }
    assert_measured("ITEM_BYTES", ITEM_BYTES.into(), (bytes / items) as f64);
}

/// The size by which DynamoDB bills an item: the names of its attributes and their values.
fn size_of_map(item: &std::collections::HashMap<String, AttributeValue>) -> usize {
    item.iter().map(|(name, value)| name.len() + size_of_value(value)).sum()
}

fn size_of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => number.len().div_ceil(2) + 1,
        AttributeValue::Bool(_) | AttributeValue::Null(_) => 1,
        AttributeValue::M(map) => 3 + size_of_map(map) + map.len(),
        AttributeValue::L(list) => 3 + list.iter().map(|it| 1 + size_of_value(it)).sum::<usize>(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_template_deploys_what_the_costs_say() {
    let yaml = |text: &str| yaml_serde::from_str::<yaml_serde::Value>(text).unwrap();
    let template = yaml(TEXT);
    let count = |kind: &str| resources_of_type(kind).len() as u32;
    let reads_keys = |function: &&crate::support::template::Function| {
        let policies = yaml_serde::to_string(&function.properties["Policies"]).unwrap();
        policies.contains("ApiKeysTable")
    };
    let alarms = resources_of_type("AWS::CloudWatch::Alarm");
    let alarm_metrics = alarms.iter().map(|(_, alarm)| {
        let metrics = alarm["Properties"]["Metrics"].as_sequence();
        let is_read = |metric: &&yaml_serde::Value| !metric["MetricStat"].is_null();
        metrics.map_or(1, |metrics| metrics.iter().filter(is_read).count())
    });
    let functions = functions();
    let import = functions.iter().find(|function| function.binary == "ingest").unwrap();
    let keyed = api_functions().iter().filter(reads_keys).count();
    let edge = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../edge.yaml");
    let edge = yaml(&fs::read_to_string(edge).unwrap());
    let rules = edge["Resources"]["Firewall"]["Properties"]["Rules"].as_sequence().unwrap().len();
    for (what, stated, deployed) in [
        ("API_FUNCTIONS", API_FUNCTIONS, api_functions().len() as u32),
        ("KEYED_FUNCTIONS", KEYED_FUNCTIONS, keyed as u32),
        ("METRIC_FILTERS", METRIC_FILTERS, count("AWS::Logs::MetricFilter")),
        ("ALARMS", ALARMS, alarms.len() as u32),
        ("ALARM_METRICS", ALARM_METRICS, alarm_metrics.sum::<usize>() as u32),
        ("EDGE_RULES", EDGE_RULES, rules as u32),
        ("dashboards", 1, count("AWS::CloudWatch::Dashboard")),
    ] {
        assert_eq!(stated, deployed, "{what}");
    }
    let memory = &template["Globals"]["Function"]["MemorySize"];
    assert_eq!(memory.as_f64(), Some(MEMORY_MB));
    assert_eq!(import.properties["MemorySize"].as_f64(), Some(IMPORT_MEMORY_MB));
    assert!(!TEXT.contains("SystemLogLevel"), "Lambda logs two lines for each request");
}

#[test]
fn the_limits_of_the_worst_day_are_those_of_the_template() {
    let template: yaml_serde::Value = yaml_serde::from_str(TEXT).unwrap();
    let api = &resources()["Api"]["Properties"];
    let mut others = 0.0;
    for (route, settings) in api["RouteSettings"].as_mapping().unwrap() {
        let rate = match &settings["ThrottlingRateLimit"] {
            yaml_serde::Value::Tagged(parameter) => {
                &template["Parameters"][parameter.value.as_str().unwrap()]["Default"]
            }
            plain => plain,
        };
        let (route, rate) = (route.as_str().unwrap(), rate.as_f64().unwrap());
        match REQUESTS.iter().find(|kind| format!("ANY {}", kind.route) == route) {
            Some(kind) => assert_eq!(kind.rate, rate, "{route}"),
            None => others += rate,
        }
    }
    let of_others = REQUESTS.iter().find(|kind| kind.route == "others").unwrap().rate;
    assert_eq!(of_others, others, "of {}", throttling_rate());

    let format = api["AccessLogSettings"]["Format"].as_str().unwrap().to_owned();
    let line = [
        ("requestTime", "22/Nov/2026:09:00:00 +0000"),
        ("requestId", "AbCdEfGhIjKlMnOp="),
        ("identity.sourceIp", "203.0.113.123"),
        ("routeKey", "ANY /v1/npa/{npa}/nxx/{nxx}"),
        ("protocol", "HTTP/1.1"),
        ("status", "200"),
        ("integrationStatus", "200"),
        ("responseLatency", "10"),
        ("integrationLatency", "10"),
        ("responseLength", "1234"),
        // Requests that fail have more.
        ("error.responseType", "-"),
        ("integrationErrorMessage", "-"),
    ]
    .into_iter()
    .fold(format, |line, (name, value)| {
        line.replace(&format!("$context.{name}\""), &format!("{value}\""))
    });
    assert!(!line.contains("$context"), "{line}");
    assert_measured("GATEWAY_LOG_BYTES", GATEWAY_LOG_BYTES.into(), line.len() as f64);
}

#[test]
fn the_program_prints_a_bill_for_what_is_typed() {
    let bill =
        |arguments: &[&str]| stdout(&program(&[&["costs"], arguments].concat()).output().unwrap());
    let printed = bill(&["--requests", "2000000", "--cold", "3"]);
    let expected = Bill::new(&Usage::month(2e6, 0.03));
    assert!(
        printed.starts_with("A month with 2,000,000 requests, 3 % of which start"),
        "{printed}"
    );
    assert!(printed.ends_with(&format!("{:>12.2}\n", expected.total())), "{printed}");
    assert!(!printed.contains("X-Ray") && bill(&["--tracing"]).contains("X-Ray"));
    assert!(!printed.contains("CloudFront") && bill(&["--edge"]).contains("Firewall"));
    assert!(bill(&["--worst-case"]).starts_with("A day with "));
    for refused in [&["--cold", "101"][..], &["--worst-case", "--edge"]] {
        let refused = program(&[&["costs"], refused].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
    }
}
