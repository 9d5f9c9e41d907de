//! The worst day of the costs: the most expensive request of each route.

use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tnr::costs::{
    Usage,
    costliest::{COSTLIEST, Costliest},
};

use crate::support::{
    database_calls::{calls_of, units},
    databases::{self, write_sample_into},
    fault_proxy::{Fault, FaultProxy},
    program::{Serving, program_on},
    service::{KEY, Service, http_client, shared_service},
};

use super::costs::{assert_none, bytes_of, mismatch};

/// The most numbers of `POST /v1/format` and of `format_numbers`.
const MOST_NUMBERS: usize = 1000;
const MOST_NUMBERS_OF_AGENTS: usize = 25;
/// A name that a client gives a number, as long as a body with the most numbers may have. Each character
/// takes six bytes in JSON.
const LONGEST_NAME: [char; 82] = ['\u{1}'; 82];

/// A valid number in each of so many exchanges. Each exchange needs a read.
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
        numbers.extend(valid(candidates.collect()).await);
    }
    numbers.truncate(count);
    numbers
}

/// Those of these numbers that are valid.
async fn valid(numbers: Vec<String>) -> Vec<String> {
    let asked = shared_service().post("/v1/format", "application/json", json!(numbers).to_string());
    let answer: Value = asked.send().await.unwrap().json().await.unwrap();
    let results = answer["results"].as_array().unwrap();
    let is_valid = results.iter().map(|it| it["result"]["valid"] == true);
    numbers.into_iter().zip(is_valid).filter_map(|(number, it)| it.then_some(number)).collect()
}

fn call_of_agent(numbers: Vec<String>) -> Value {
    let arguments = json!({ "numbers": numbers, "include": "all" });
    let call = json!({ "name": "format_numbers", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call })
}

/// The most expensive request of a route, to the service at this address.
async fn request(base_url: &str, target: &str) -> RequestBuilder {
    let url = format!("{base_url}{target}");
    let post = |body: Value| {
        let request = http_client().post(&url).header("content-type", "application/json");
        request.body(body.to_string())
    };
    let request = match target.split('?').next().unwrap() {
        "/v1/format" => {
            let id = String::from_iter(LONGEST_NAME);
            let numbers = numbers(MOST_NUMBERS).await;
            post(numbers.into_iter().map(|tn| json!({ "tn": tn, "id": id })).collect())
        }
        "/mcp" => post(call_of_agent(numbers(MOST_NUMBERS_OF_AGENTS).await)),
        "/" => http_client().get(&url).header("accept", "text/html"),
        _ => http_client().get(&url),
    };
    let host = crate::support::api_events::HOST;
    request.bearer_auth(KEY).header("host", host).header("x-forwarded-proto", "https")
}

/// What the numbers of the largest batch read, a hundred at a time: a busy machine would take longer for
/// all of them at once than a request waits for the database.
async fn units_of_batches(proxy: &FaultProxy) -> f64 {
    let service = Service::behind(proxy).await;
    calls_of(&service, proxy, "/v1/carriers").await;
    for some in numbers(MOST_NUMBERS).await.chunks(100) {
        let body = json!(some).to_string();
        let response = service.post("/v1/format", "application/json", body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
    }
    units(&proxy.take_answered())
}

#[tokio::test]
async fn the_most_expensive_request_of_each_route_reads_and_answers_what_the_costs_say() {
    let sample = databases::with_sample().await;
    let proxy = FaultProxy::before(sample.endpoint(), |_, _| Fault::None).await;
    let mut mismatches = Vec::new();
    for Costliest { kind, .. } in &COSTLIEST {
        let service = Service::behind(&proxy).await;
        calls_of(&service, &proxy, "/v1/carriers").await;
        let response = request(&service.base_url, kind.target).await.send().await.unwrap();
        let bytes = bytes_of(response).await;
        let mut read = units(&proxy.take_answered());
        if kind.target.starts_with("/v1/format") {
            read = units_of_batches(&proxy).await;
        }
        mismatches.extend(mismatch(format!("a read of {}", kind.name), kind.read_units, read));
        mismatches.extend(mismatch(kind.name, kind.response_bytes.into(), bytes));
    }
    assert_none(mismatches);
}

#[tokio::test]
async fn the_most_expensive_request_of_each_route_logs_what_the_costs_say() {
    let data_dir = TempDir::new().unwrap();
    write_sample_into(data_dir.path());
    let mut command = program_on(&data_dir, &["--port", "0", "--key", KEY]);
    command.env("AWS_LAMBDA_FUNCTION_NAME", "numbers-CarriersFunction-AbCdEfGhIjKl");
    let serving = Serving::start(&mut command).await;
    // The first request is a cold start.
    let targets = COSTLIEST.iter().map(|costliest| costliest.kind.target);
    for target in ["/v1/carriers"].into_iter().chain(targets) {
        let response = request(&serving.base_url, target).await.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{target}");
    }
    let output = serving.output();
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with('{')).skip(1).collect();
    assert_eq!(lines.len(), COSTLIEST.len(), "{output}");
    assert_none(COSTLIEST.iter().zip(lines).filter_map(|(Costliest { kind, .. }, line)| {
        mismatch(kind.name, kind.log_bytes.into(), line.len() as f64)
    }));
}

#[tokio::test]
async fn no_request_has_more_numbers_than_the_most_expensive_one() {
    let too_many = |most: usize| vec!["+442079460958".to_owned(); most + 1];
    let post = |path: &str, body: Value| {
        shared_service().post(path, "application/json", body.to_string()).send()
    };
    let response = post("/v1/format", json!(too_many(MOST_NUMBERS))).await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let response = post("/mcp", call_of_agent(too_many(MOST_NUMBERS_OF_AGENTS))).await.unwrap();
    assert_eq!(response.json::<Value>().await.unwrap()["result"]["isError"], true);
}

#[test]
fn no_image_is_larger_than_the_largest_of_the_costs() {
    let largest = flags::images().max_by_key(|(_, image)| image.bytes.len());
    let (path, _) = largest.unwrap();
    assert!(COSTLIEST.iter().any(|costliest| costliest.kind.target == format!("/flags/{path}")));
}

#[test]
fn the_worst_day_has_the_batches_of_format_and_the_calls_of_agents() {
    let mut deployment = super::costs::deployment();
    let before = Usage::worst_day(&deployment, 0.0);
    deployment.limits.retain(|limit| {
        !["/v1/format", "/mcp"].iter().any(|path| limit.costliest.kind.target.starts_with(path))
    });
    let without = Usage::worst_day(&deployment, 0.0);
    for of in [
        |usage: &Usage| usage.request.response_bytes,
        |usage: &Usage| usage.request.read_units,
        |usage: &Usage| usage.request.ms,
    ] {
        assert!(of(&before) * before.requests > 2.0 * of(&without) * without.requests);
    }
}
