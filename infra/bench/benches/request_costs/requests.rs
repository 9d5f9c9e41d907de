//! Requests that are cheap to send and expensive to serve, at least one for each endpoint. `targets.txt` lists requests
//! without a body, and `bodies.jsonl` requests that repeat a text in the target or body.

use reqwest::{Client, RequestBuilder};
use serde_json::Value;

use crate::server::Server;

const JSON: &str = "application/json";

pub struct Worst {
    /// As in the API description.
    pub endpoint: String,
    pub name: String,
    pub request: RequestBuilder,
}

pub fn worst_requests(server: &Server, client: &Client) -> Vec<Worst> {
    let ocn = if server.has_published_data { "6010" } else { "4070" };
    let targets = include_str!("targets.txt").lines().filter(|line| !line.starts_with('#'));
    let gets = targets.map(|line| {
        let (endpoint, target) = line.split_once(' ').unwrap();
        let target = target.replace("OCN", ocn).replace("PAST", &server.past);
        let name = format!("`{target:.60}`");
        Worst { endpoint: endpoint.to_owned(), name, request: client.get(server.url(&target)) }
    });
    let repeated = include_str!("bodies.jsonl").lines();
    let repeated = repeated.map(|line| parse_repeated_request(server, client, line));
    let arguments: String = (0..4000).map(|n| format!(",\"a{n}\":[1]")).collect();
    let composed = [
        (
            "/v1/format?include=all&cache=false&lang=de",
            "1,000 numbers abroad",
            numbers_as_json(1000),
        ),
        (
            "/mcp",
            "25 numbers",
            call("format_numbers", &format!("{{\"numbers\":{}}}", numbers_as_json(25))),
        ),
        ("/mcp", "many arguments", call("format_number", &format!("{{\"tn\":\"1\"{arguments}}}"))),
    ];
    let composed =
        composed.map(|(target, name, body)| post(server, client, (target, name), JSON, body));
    gets.chain(repeated).chain(composed).collect()
}

/// Parses a request whose `count` pieces consist of a text, repeated, and what follows `then`.
fn parse_repeated_request(server: &Server, client: &Client, line: &str) -> Worst {
    let line: Value = serde_json::from_str(line).unwrap();
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let number = |name: &str| line[name].as_u64().map_or(1, |number| number as usize);
    let piece = text("repeat").repeat(number("times")) + text("then");
    let body = [text("start"), &piece.repeat(number("count")), text("end")].concat();
    let name = text("name");
    if let Some(start) = line["get"].as_str() {
        let endpoint = if start == "/v1/format/" { "/v1/format/{tn}" } else { path(start) };
        let request = client.get(server.url(&format!("{start}{body}")));
        return Worst { endpoint: endpoint.to_owned(), name: name.to_owned(), request };
    }
    post(server, client, (text("post"), name), text("type"), body)
}

fn post(
    server: &Server,
    client: &Client,
    (target, name): (&str, &str),
    content_type: &str,
    body: String,
) -> Worst {
    let accept = match path(target) {
        "/v1/format" => "text/csv, */*;q=0.5",
        "/mcp" => JSON,
        _ => "*/*",
    };
    let request = client.post(server.url(target)).header("content-type", content_type);
    let request = request.header("accept", accept).body(body);
    Worst { endpoint: format!("POST {}", path(target)), name: name.to_owned(), request }
}

fn path(target: &str) -> &str {
    target.split('?').next().unwrap_or(target)
}

fn call(tool: &str, arguments: &str) -> String {
    let params = format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}");
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}")
}

const WORLDWIDE: &str = "+442079460958 +8613123456789 +4930123456 +5491123456789 +912212345678 +390612345678 \
                         +525512345678 +81312345678 +5511961234567 +12122345678";

fn numbers_as_json(count: usize) -> String {
    Value::from_iter(WORLDWIDE.split(' ').cycle().take(count)).to_string()
}
