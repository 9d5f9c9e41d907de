//! The costs: the document is what the program computes, and what it computes with is what requests,
//! starts and imports really take.

use std::{fmt::Display, fs, path::Path};

use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::Response;
use tempfile::TempDir;
use tnr::costs::{
    Bill, Deployment, Usage, markdown,
    measures::{
        EDGE_RULES, ITEM_BYTES, KINDS, LARGEST, RequestKind, UNITS_OF_KEY_AND_MANIFEST,
        UNKNOWN_KEY_UNITS, units_of_snapshot,
    },
};

use crate::support::{
    database_calls::{START, calls_of, operations, units},
    databases::{self, write_sample_into},
    fault_proxy::{Fault, FaultProxy},
    program::{Serving, program, program_on, stdout},
    service::{KEY, Service, http_client, shared_service},
};

/// How far a measure may be from what the costs say, as a share.
const TOLERANCE: f64 = 0.03;

/// What is wrong with a number of the costs, if anything is.
pub fn mismatch(what: impl Display, stated: f64, measured: f64) -> Option<String> {
    let is_right = (measured - stated).abs() <= TOLERANCE * measured;
    (!is_right).then(|| format!("{what} is {measured} and not {stated}"))
}

pub fn assert_none(mismatches: impl IntoIterator<Item = String>) {
    let mismatches: Vec<String> = mismatches.into_iter().collect();
    assert!(
        mismatches.is_empty(),
        "correct what infra/local/src/costs states, and make docs/COSTS.md anew:\n{}",
        mismatches.join("\n")
    );
}

/// Asserts that a number of measures.rs is right.
pub fn assert_measured(what: impl Display, stated: f64, measured: f64) {
    assert_none(mismatch(what, stated, measured));
}

/// The bytes of a response as a client gets them, without compression.
async fn response_bytes(service: &Service, target: &str) -> f64 {
    bytes_of(service.get(target).await).await
}

/// The bytes of a success, without compression.
pub async fn bytes_of(response: Response) -> f64 {
    assert!(response.status().is_success(), "{}", response.url());
    let headers = response.headers().iter();
    let headers: usize = headers.map(|(name, it)| name.as_str().len() + it.len() + 4).sum();
    (headers + response.bytes().await.unwrap().len()) as f64
}

pub fn deployment() -> Deployment {
    Deployment::of_template().unwrap()
}

#[test]
fn the_committed_costs_are_what_the_program_computes() {
    let committed = include_str!("../../../../../docs/COSTS.md");
    assert!(
        committed == markdown::document(&deployment()).unwrap(),
        "run 'cargo run -- costs --markdown > costs.md && mv costs.md docs/COSTS.md'"
    );
}

/// All requests that are measured.
fn kinds() -> impl Iterator<Item = RequestKind> {
    KINDS.into_iter().chain([LARGEST])
}

#[tokio::test]
async fn each_kind_of_request_reads_and_answers_what_the_costs_say() {
    let sample = databases::with_sample().await;
    let proxy = FaultProxy::before(sample.endpoint(), |_, _| Fault::None).await;
    let service = Service::behind(&proxy).await;
    calls_of(&service, &proxy, "/v1/carriers").await;
    let mut mismatches = Vec::new();
    for kind in kinds() {
        let read = units(&calls_of(&service, &proxy, kind.target).await);
        assert_eq!(read, kind.read_units, "{}", kind.name);
        let bytes = response_bytes(&service, kind.target).await;
        proxy.take_answered();
        mismatches.extend(mismatch(kind.name, kind.response_bytes.into(), bytes));
    }
    assert_none(mismatches);
}

#[tokio::test]
async fn no_page_is_larger_than_the_largest_of_the_costs() {
    let service = shared_service();
    for list in
        ["/v1/npa/415?", "/v1/carriers?", "/v1/search?q=telephone&", "/v1/search?country=US&"]
    {
        let bytes = response_bytes(service, &format!("{list}limit=100")).await;
        assert!(bytes <= f64::from(LARGEST.response_bytes) * (1.0 + TOLERANCE), "{list}: {bytes}");
    }
}

#[tokio::test]
async fn each_kind_of_request_logs_what_the_costs_say() {
    let data_dir = TempDir::new().unwrap();
    write_sample_into(data_dir.path());
    let mut command = program_on(&data_dir, &["--port", "0", "--key", KEY]);
    command.env("AWS_LAMBDA_FUNCTION_NAME", "numbers-CarriersFunction-AbCdEfGhIjKl");
    let serving = Serving::start(&mut command).await;
    // The first request is a cold start.
    for target in [KINDS[0].target].into_iter().chain(kinds().map(|kind| kind.target)) {
        let request = http_client().get(format!("{}{target}", serving.base_url));
        assert!(request.bearer_auth(KEY).send().await.unwrap().status().is_success(), "{target}");
    }
    let output = serving.output();
    let lines = output.lines().filter(|line| line.starts_with('{')).skip(1);
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), kinds().count());
    assert_none(
        kinds().zip(lines).filter_map(|(kind, line)| {
            mismatch(kind.name, kind.log_bytes.into(), line.len() as f64)
        }),
    );
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

    let unknown = tnr::commands::keys::random().unwrap();
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

/// Where there is an `edge.yaml`.
#[test]
fn the_firewall_has_as_many_rules_as_the_costs_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../edge.yaml");
    let Ok(text) = fs::read_to_string(file) else { return };
    let template: yaml_serde::Value = yaml_serde::from_str(&text).unwrap();
    let rules = template["Resources"]["Firewall"]["Properties"]["Rules"].as_sequence();
    assert_eq!(rules.unwrap().len() as u32, EDGE_RULES);
}

#[test]
fn a_bill_grows_with_what_is_used() {
    let deployment = deployment();
    let total = |usage: &Usage| Bill::of(&deployment, usage).total();
    let usual = Usage::month(1e7, 0.01);
    for more in [
        Usage { requests: 2e7, ..usual },
        Usage { cold_share: 0.1, ..usual },
        Usage { tracing: true, ..usual },
        Usage { edge: true, ..usual },
    ] {
        assert!(total(&more) > total(&usual), "{more:?}");
    }
    let without_requests = Bill::of(&deployment, &Usage::month(0.0, 0.01));
    assert_eq!(Bill::sum(&without_requests.of_requests), 0.0);
    assert!(without_requests.total() > 0.0);
    let day = Usage::worst_day(&deployment, 0.01);
    assert_eq!(day.requests, deployment.throttling_rate() * 86_400.0);
    let as_usual = Usage { request: usual.request, ..day };
    assert!(total(&day) > total(&as_usual), "its requests are larger than usual ones");
}

#[test]
fn the_program_prints_a_bill_for_what_is_typed() {
    let bill =
        |arguments: &[&str]| stdout(&program(&[&["costs"], arguments].concat()).output().unwrap());
    let printed = bill(&["--requests", "2000000", "--cold", "3"]);
    let expected = Bill::of(&deployment(), &Usage::month(2e6, 0.03));
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
