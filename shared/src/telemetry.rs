//! What is told of each request: one line for the log, from which CloudWatch also reads metrics
//! (its embedded metric format, so no call is made for them), and an id for the client.
//!
//! Never the key, and of a phone number never the last four digits.

use std::{
    cell::RefCell,
    env,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderValue, Method, StatusCode},
    middleware::Next,
    response::Response,
};
use jiff::Timestamp;
use lambda_http::request::RequestContext;
use rand::{RngExt, distr::Alphanumeric};
use serde_json::{Value, json};

/// The header that carries the id of a request.
pub const REQUEST_ID: &str = "x-request-id";
/// Of every metric, in CloudWatch.
pub const NAMESPACE: &str = "TelephoneNumberReference";
/// How many characters of a phone number stay out of the log.
const MASKED: usize = 4;

/// What the rooms a request passes through know of it.
#[derive(Debug, Default)]
pub struct Facts {
    /// The first characters of the key, by which an operator knows it.
    pub key: Option<String>,
    /// Of the data that was in force.
    pub data_version: Option<String>,
    /// Capacity units DynamoDB counted.
    pub consumed_capacity: f64,
    pub cache_hits: u32,
    pub cache_misses: u32,
    phone_number: Option<String>,
}

impl Facts {
    /// The number the client asked about, without its end.
    pub fn asked_about(&mut self, phone_number: &str) {
        self.phone_number = Some(masked(phone_number));
    }
}

tokio::task_local! {
    static FACTS: RefCell<Facts>;
}

/// Notes something of the request that is being answered; outside of one it does nothing.
pub fn note(note: impl FnOnce(&mut Facts)) {
    _ = FACTS.try_with(|facts| note(&mut facts.borrow_mut()));
}

/// The text with its last letters or digits starred.
fn masked(text: &str) -> String {
    let mut left = MASKED;
    let star = |c: char| match c.is_alphanumeric() && left > 0 {
        true => {
            left -= 1;
            '*'
        }
        false => c,
    };
    text.chars().rev().map(star).collect::<Vec<_>>().into_iter().rev().take(40).collect()
}

/// What one request was and how it ended.
struct Told {
    request_id: String,
    method: Method,
    route: String,
    status: StatusCode,
    took: Duration,
    cold_start: bool,
    facts: Facts,
}

/// Tells of each request and gives each answer its id.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    static WARM: AtomicBool = AtomicBool::new(false);
    let started = Instant::now();
    let request_id = id_of(&request);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("$default", MatchedPath::as_str).to_owned();
    let answered = async {
        let response = next.run(request).await;
        (response, FACTS.with(RefCell::take))
    };
    let (mut response, facts) = FACTS.scope(RefCell::default(), answered).await;
    if let Ok(id) = HeaderValue::try_from(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    tell(&Told {
        request_id,
        method,
        route,
        status: response.status(),
        took: started.elapsed(),
        cold_start: !WARM.swap(true, Ordering::Relaxed),
        facts,
    });
    response
}

/// API Gateway's id of the request, or one made here.
fn id_of(request: &Request) -> String {
    let context = request.extensions().get::<RequestContext>();
    let given = match context {
        Some(RequestContext::ApiGatewayV2(context)) => context.request_id.clone(),
        Some(RequestContext::ApiGatewayV1(context)) => context.request_id.clone(),
        _ => None,
    };
    given
        .unwrap_or_else(|| rand::rng().sample_iter(Alphanumeric).take(16).map(char::from).collect())
}

/// Writes the line: for CloudWatch in a Lambda, elsewhere at level `info`.
fn tell(told: &Told) {
    static FUNCTION: LazyLock<Option<String>> =
        LazyLock::new(|| env::var("AWS_LAMBDA_FUNCTION_NAME").ok());
    match &*FUNCTION {
        Some(function) => println!("{}", told.line(function, Timestamp::now())),
        None => {
            let Told { request_id, method, route, status, took, .. } = told;
            let status = status.as_u16();
            tracing::info!(request_id, %method, route, status, ?took, "request");
        }
    }
}

impl Told {
    fn line(&self, function: &str, now: Timestamp) -> Value {
        let Self { request_id, method, route, status, took, cold_start, facts } = self;
        let metrics = [
            ("Requests", "Count", 1.0),
            ("ClientErrors", "Count", f64::from(u8::from(status.is_client_error()))),
            ("ServerErrors", "Count", f64::from(u8::from(status.is_server_error()))),
            ("Latency", "Milliseconds", took.as_secs_f64() * 1000.0),
            ("CacheHits", "Count", f64::from(facts.cache_hits)),
            ("CacheMisses", "Count", f64::from(facts.cache_misses)),
            ("ConsumedCapacity", "Count", facts.consumed_capacity),
        ];
        let names = metrics.map(|(name, unit, _)| json!({ "Name": name, "Unit": unit }));
        let mut line = json!({
            "level": if status.is_server_error() { "ERROR" } else { "INFO" },
            "message": "request",
            "request_id": request_id,
            "method": method.as_str(),
            "route": route,
            "status": status.as_u16(),
            "cold_start": cold_start,
            "data_version": facts.data_version,
            "key": facts.key,
            "tn": facts.phone_number,
            "Function": function,
            "_aws": {
                "Timestamp": now.as_millisecond(),
                "CloudWatchMetrics": [
                    { "Namespace": NAMESPACE, "Dimensions": [["Function"]], "Metrics": names }
                ]
            }
        });
        for (name, _, value) in metrics {
            line[name] = json!(value);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_four_digits_or_letters_are_starred() {
        assert_eq!(masked("+1 (305) 234-5678"), "+1 (305) 234-****");
        assert_eq!(masked("1-800-FLOWERS"), "1-800-FLO****");
        assert_eq!(masked("305.234.56 78"), "305.234.** **");
        assert_eq!(masked("12"), "**");
        assert_eq!(masked(&"9".repeat(500)).len(), 40);
    }

    #[test]
    fn the_line_holds_every_metric_it_names() {
        let mut facts = Facts { consumed_capacity: 0.5, cache_hits: 1, ..Facts::default() };
        facts.asked_about("+13052345678");
        let told = Told {
            request_id: "abc".to_owned(),
            method: Method::GET,
            route: "/v1/format/{*tn}".to_owned(),
            status: StatusCode::SERVICE_UNAVAILABLE,
            took: Duration::from_millis(3),
            cold_start: true,
            facts,
        };
        let line = told.line("stack-format", Timestamp::UNIX_EPOCH);
        let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
        assert!(metrics.iter().all(|metric| line[metric["Name"].as_str().unwrap()].is_number()));
        assert_eq!((&line["ServerErrors"], &line["Latency"]), (&json!(1.0), &json!(3.0)));
        assert_eq!((&line["level"], &line["tn"]), (&json!("ERROR"), &json!("+1305234****")));
        assert_eq!(line["cold_start"], true);
    }
}
