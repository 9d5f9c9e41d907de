//! Tests that each request has one log line with all metrics. No line at any level contains a full phone number, a key,
//! or client text. A client's request id is logged only if it is a UUID, a trace id or a ULID.

use std::{env, fs};

use axum::{body::Body, extract::Request, http::HeaderValue};
use lambda_http::tower::ServiceExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IteratorRandom};
use serde_json::Value;
use shared::{
    app,
    auth::{ApiKey, KeyKind},
    config::Config,
    state::App,
};
use tnr::{operate::costs::measure, routes};

use super::costs::assert_measured;
use crate::support::{
    function_calls::lambda_process,
    service::{KEY, Service},
    template::metrics_in,
};

/// Numbers as dialed. The sample only has exchange 305-234.
const NUMBERS: [[&str; 3]; 4] = [
    ["305", "234", "5678"],
    ["416", "226", "9041"],
    ["212", "555", "0187"],
    ["800", "356", "9377"],
];

/// The first requests, whose lines are compared field by field, and their request id.
const FIRST_TARGETS: [&str; 4] = [
    "/v1/format/+13052345678",
    "/v1/format?tn=%28305%29%20234-5678",
    "/v1/npa/415?limit=0",
    "/v1/nowhere",
];
const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// The number of random inputs per run, in addition to the ones below. Each is sent in two requests.
const RANDOM_INPUTS: usize = 2_000;

/// Number formats, separated by `|`, where `A`, `B` and `C` are the three parts of a number.
const NUMBER_FORMATS: &str = "ABC|+1ABC|1ABC|A-B-C|(A) B-C|A.B.C|A B C|+1 A B C|+1 (A) B-C|1-A-B-C|001ABC|\
    0111ABC|0011ABC|+1-A-B-C|A/B/C|A_B_C|A--B--C|A~B~C|(A)B-C|[A] B-C|A-B-C x1234|A-B-C ext. 1234|\
    A-B-C extension 99|A-B-C;ext=1234|A-B-C#1234|+1ABC,,1234|tel:+1-A-B-C|tel:+1ABC;ext=12|\
    tel:A-B-C;phone-context=+1|tel:+1-A-B-C;isub=1411|tel:B-C;phone-context=+1A|(A) B-C home|\
    A-B-C       abc|call A-B-C now|my number is ABC|ABC and ABC|ABC / 1ABC|ABCabcd|ABC*|\
    A\u{a0}B\u{a0}C|A\u{2013}B\u{2013}C|A\u{200b}B\u{200b}C|+1\u{2007}A\u{2007}B\u{2007}C|\
    \u{ff0b}1ABC|\"ABC\"|<ABC>|ABC?x=1|%2B1ABC|fullwidth ABC|arabic ABC";

fn format_number(format: &str, [area, exchange, line]: [&str; 3]) -> String {
    let with_digits_from = |zero: char, text: &str| -> String {
        let shift = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(zero as u32 + digit));
        text.chars().map(|c| shift(c).unwrap_or(c)).collect()
    };
    let fill_in =
        |template: &str| template.replace('A', area).replace('B', exchange).replace('C', line);
    match format.split_once(' ') {
        Some(("fullwidth", template)) => with_digits_from('\u{ff10}', &fill_in(template)),
        Some(("arabic", template)) => with_digits_from('\u{660}', &fill_in(template)),
        _ => fill_in(format),
    }
}

/// Random text from the characters in numbers, keys and addresses, and a few rare ones.
fn random_text(random: &mut StdRng) -> String {
    const DIGITS: &str = "0123456789";
    const OTHERS: &str =
        "+-().,;:/#*?&=%_ \t\"'\\<>{}[]|~xXeEtTabcdefgXYZäß\u{ff11}\u{661}\u{96a}\u{2028}";
    let length = random.random_range(1..30);
    let digit_ratio = random.random_range(0.0..1.0);
    let mut character = |_| {
        let pool = if random.random_bool(digit_ratio) { DIGITS } else { OTHERS };
        pool.chars().choose(random).unwrap()
    };
    (0..length).map(&mut character).collect()
}

struct LoggedRequest {
    method: String,
    /// The path and query as sent.
    target: String,
    /// The number or other text, which must not be logged in full. Also sent as the request id and as the body.
    text: String,
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// The digits in `text` without separators, converted to ASCII from any script.
fn digits(text: &str) -> String {
    let digit = |c: char| match c {
        '0'..='9' => Some(c),
        '\u{ff10}'..='\u{ff19}' => char::from_digit(c as u32 - 0xff10, 10),
        '\u{660}'..='\u{669}' => char::from_digit(c as u32 - 0x660, 10),
        '\u{966}'..='\u{96f}' => char::from_digit(c as u32 - 0x966, 10),
        _ => None,
    };
    text.chars().filter_map(digit).collect()
}

fn request_with(method: &str, target: String, text: &str) -> LoggedRequest {
    LoggedRequest { method: method.to_owned(), target, text: text.to_owned() }
}

/// Requests with this text in every part that a client controls.
fn requests_with_text_in_every_place(text: &str) -> Vec<LoggedRequest> {
    let targets = "/v1/format/{} /v1/format?tn={} /v1/format?tn=1&defaultCountry={} /v1/{} /{} \
                   /v1/npa/{} /v1/npa/415/nxx/{} /v1/carrier/{} /v1/carrier?ocn={} /v1/search?q={} \
                   /v1/search?{}=1 /v1/carriers?limit={} /v1/carriers?version={} \
                   /v1/npa/415?apiKey={} POST:/v1/format POST:/v1/format?column={} \
                   POST:/v1/find POST:/v1/find?leniency={}";
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let invented_method = format!("X{letters}:/v1/npa/415");
    let request = |target: &str| {
        let (method, target) = target.split_once(':').unwrap_or(("GET", target));
        request_with(method, target.replace("{}", &encode(text)), text)
    };
    targets.split(' ').chain([invented_method.as_str()]).map(request).collect()
}

/// A well-formed key that is not registered.
fn unknown_key() -> ApiKey {
    ApiKey::with_secret(KeyKind::Live, "AKeyThatNobodyHasRegistered00001").unwrap()
}

/// Every request in a run.
fn requests(seed: u64) -> Vec<LoggedRequest> {
    let mut random = StdRng::seed_from_u64(seed);
    let first = FIRST_TARGETS.map(|target| request_with("GET", target.to_owned(), ID));
    let mut requests = Vec::from(first);
    let mut add_number = |text: &str, number: &str| {
        for place in ["/", "?tn="] {
            let target = format!("/v1/format{place}{}", encode(text));
            requests.push(request_with("GET", target, number));
        }
    };
    for format in NUMBER_FORMATS.split('|') {
        for number in NUMBERS {
            add_number(&format_number(format, number), &number.concat());
        }
    }
    for _ in 0..RANDOM_INPUTS {
        let text = random_text(&mut random);
        add_number(&text, &text);
    }
    for format in NUMBER_FORMATS.split('|') {
        requests.extend(requests_with_text_in_every_place(&format_number(format, NUMBERS[0])));
    }
    for key in [KEY, unknown_key().reveal()] {
        for text in [key.to_owned(), format!("+{key}"), format!("tel:{key}"), key.to_uppercase()] {
            requests.extend(requests_with_text_in_every_place(&text));
        }
    }
    requests
}

/// A header with the text's digits as its trace id; with the id that the first requests have, a valid one.
fn traceparent(text: &str) -> String {
    let id = if text == ID { ID.to_owned() } else { format!("{:0>32}", digits(text)) };
    format!("00-{id}-00f067aa0ba902b7-01")
}

/// The process that the test starts: the real handlers, with Lambda's logging at every level.
#[tokio::test]
#[ignore = "another test starts it as a separate process"]
async fn logging_process() {
    let Ok(seed) = env::var("REQUEST_SEED") else { return };
    let service = Service::with_sample().await;
    logging::init_json_logs();
    let handlers = app::service(
        routes(),
        App::new(service.database.serving_store().await, Config::from_env()),
    );
    for LoggedRequest { method, target, text } in requests(seed.parse().unwrap()) {
        let body = if method == "POST" { Body::from(text.clone()) } else { Body::empty() };
        let mut request = Request::builder().method(&*method).uri(&target);
        request = request.header("host", "localhost").header("content-type", "text/plain");
        // Not all text can be sent in a header.
        if let Ok(id) = HeaderValue::from_bytes(text.as_bytes()) {
            request = request.header("x-request-id", id.clone()).header("tracestate", id);
        }
        request = request.header("traceparent", traceparent(&text));
        if !target.contains("apiKey") {
            request = request.header("authorization", format!("Bearer {KEY}"));
        }
        handlers.clone().oneshot(request.body(body).unwrap()).await.unwrap();
    }
}

/// The log of a process that handles the requests.
fn log_while_serving(seed: u64) -> String {
    let (mut command, log) = lambda_process(concat!(module_path!(), "::logging_process"));
    let status = command
        .env("REQUEST_SEED", seed.to_string())
        .env("AWS_LAMBDA_FUNCTION_NAME", "stack-format")
        .env("RUST_LOG", "trace")
        .status();
    let output = fs::read_to_string(log).unwrap();
    assert!(status.unwrap().success(), "{output}");
    output
}

#[test]
fn no_log_line_contains_a_full_phone_number_a_key_or_client_text() {
    let seed: u64 = rand::random();
    println!("the seed for the random inputs is {seed}");
    let (requests, unknown) = (requests(seed), unknown_key());
    let output = log_while_serving(seed);
    let request_lines: Vec<Value> = output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["message"] == "request")
        .collect();
    assert_eq!(request_lines.len(), requests.len());
    assert_first_requests_are_logged(&request_lines[..FIRST_TARGETS.len()]);
    let all_routes = routes();
    let paths = all_routes.iter().flat_map(|routes| routes.paths().map(str::to_owned));
    let (paths, mut masked): (Vec<String>, _) = (paths.collect(), 0);
    for (request, line) in requests.iter().zip(&request_lines) {
        let about = format!("{} {}", request.method, request.target);
        assert_contains_no_client_text(line, &paths, &about);
        let Some(number) = line["tn"].as_str() else { continue };
        masked += 1;
        let unmasked = number.trim_end_matches('*');
        let masked_digits = number.len() - unmasked.len();
        let is_masked = masked_digits == 4 || masked_digits < 4 && unmasked == "+";
        assert!(is_masked && unmasked.starts_with('+'), "{about}: {number}");
        let sent = digits(&request.text);
        let is_exposed = sent.len() > 4 && digits(number).contains(&sent);
        assert!(!is_exposed, "{about}: {number}");
    }
    // At least the numbers in the listed formats are recognized.
    assert!(masked > NUMBERS.len() * NUMBER_FORMATS.split('|').count(), "{masked}");

    let numbers = NUMBERS.map(|number| number.concat());
    for line in output.lines() {
        let line_digits = digits(line);
        for number in &numbers {
            assert!(!line_digits.contains(number.as_str()), "{line}");
        }
        for key in [KEY, unknown.reveal()] {
            let (_, checksum) = key.split_at(key.len() - 6);
            assert!(!line.contains(key) && !line.contains(checksum), "{line}");
        }
    }
    // Almost all lines are request logs.
    let others = output.lines().filter(|line| !line.contains("\"message\":\"request\""));
    let others: Vec<&str> = others.filter(|line| line.contains("\"level\"")).collect();
    assert!(others.len() < 20, "{others:#?}");
}

/// The first lookup reads the key, manifest and exchange; the second finds them all in memory.
fn assert_first_requests_are_logged(lines: &[Value]) {
    assert_measured("log_bytes", lines[0].to_string().len() as f64);
    assert_eq!(metrics_in(&lines[0]).len() as f64, measure("request_metrics"));
    let mut shown = Value::from(lines);
    for line in shown.as_array_mut().unwrap() {
        for varying in ["_aws", "Latency", "data_version"] {
            if !line[varying].is_null() {
                line[varying] = "...".into();
            }
        }
    }
    insta::assert_snapshot!("first_log_lines", format!("{shown:#}"));
}

/// Asserts that every field has one of a few values, or a format that cannot contain client text. A request id must be
/// generated by the service or look random.
fn assert_contains_no_client_text(line: &Value, routes: &[String], about: &str) {
    let known = "level message request_id method route status cold_start data_version key tn Function \
                 _aws Requests ClientErrors ServerErrors Latency CacheHits CacheMisses ConsumedCapacity";
    let mut fields: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    fields.retain(|field| !["numbers", "trace_id"].contains(field));
    assert_eq!(fields.join(" "), known, "{about}");
    assert!(line["trace_id"].is_null() || line["trace_id"] == ID, "{about}: {line}");
    assert!(line["numbers"].is_null() || line["numbers"].is_u64(), "{about}: {line}");
    let [route, method, id] =
        ["route", "method", "request_id"].map(|name| line[name].as_str().unwrap());
    assert!(route == "$default" || routes.iter().any(|known| known == route), "{about}: {line}");
    assert!(["GET", "POST", "other"].contains(&method), "{about}: {line}");
    let is_id_character = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_id = [16, 26, 32, 36].contains(&id.len()) && id.chars().all(is_id_character);
    let digits = id.replace('-', "");
    let mut tens = digits.as_bytes().windows(10);
    let has_number = tens.any(|ten| ten.iter().all(u8::is_ascii_digit));
    assert!(is_id && !has_number, "{about}: {id}");
    assert!(line["key"].is_null() || line["key"] == KEY[..15], "{about}: {line}");
    assert_eq!(line["Function"], "stack-format");
}
