//! The access log: one line for each request, from which CloudWatch also reads metrics
//! (its embedded metric format, so no call is made for them), and an id for the client.
//!
//! Nothing of it is text that a client wrote: of the key it has the first characters, of a phone number
//! what was understood of it without the last four digits, and of the path the route it took.

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
use tracing::Instrument;

/// The header that carries the id of a request.
pub const REQUEST_ID: &str = "x-request-id";
/// Of every metric, in CloudWatch.
pub const NAMESPACE: &str = "TelephoneNumberReference";
/// How many characters of a phone number stay out of the log.
const MASKED: usize = 4;

/// Facts collected while a request is handled.
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
    /// The number the client asked about, in E.164; its end is left out.
    ///
    /// Letters count as digits on a keypad, so that `(305) 234-5678 home` is a number of 14 digits
    /// which without its last four is still somebody's. Such a number is not told at all.
    pub fn set_phone_number(&mut self, text: &str, national_number: &str, e164: &str) {
        let typed: String = text.chars().filter(char::is_ascii_digit).collect();
        if typed.contains(national_number) {
            self.phone_number = Some(masked(e164));
        }
    }
}

tokio::task_local! {
    static FACTS: RefCell<Facts>;
}

/// Notes something of the request that is being answered; outside of one it does nothing.
pub fn note(note: impl FnOnce(&mut Facts)) {
    _ = FACTS.try_with(|facts| note(&mut facts.borrow_mut()));
}

/// A number in E.164 with its last digits starred: all of a national number of up to four.
fn masked(e164: &str) -> String {
    let digits = e164.trim_start_matches('+');
    let kept = digits.chars().count().saturating_sub(MASKED);
    let (start, end) = (digits.chars().take(kept), digits.chars().skip(kept).map(|_| '*'));
    "+".chars().chain(start).chain(end).collect()
}

/// A method by its name; one that HTTP does not define is text that the client wrote.
fn name_of(method: &Method) -> &'static str {
    const DEFINED: [&str; 9] =
        ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"];
    DEFINED.into_iter().find(|defined| *defined == method.as_str()).unwrap_or("other")
}

/// What one request was and how it ended.
struct AccessLogEntry {
    request_id: String,
    method: &'static str,
    route: String,
    status: StatusCode,
    took: Duration,
    cold_start: bool,
    facts: Facts,
}

/// Logs each request and gives each response its id.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    static WARM: AtomicBool = AtomicBool::new(false);
    let started = Instant::now();
    let request_id = id_of(&request);
    let method = name_of(request.method());
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("$default", MatchedPath::as_str).to_owned();
    let answered = async {
        let response = next.run(request).await;
        (response, FACTS.with(RefCell::take))
    };
    let span = tracing::info_span!("request", request_id);
    let scoped = FACTS.scope(RefCell::default(), answered);
    let (mut response, facts) = scoped.instrument(span).await;
    if let Ok(id) = HeaderValue::try_from(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    write(&AccessLogEntry {
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
fn write(entry: &AccessLogEntry) {
    static FUNCTION: LazyLock<Option<String>> =
        LazyLock::new(|| env::var("AWS_LAMBDA_FUNCTION_NAME").ok());
    match &*FUNCTION {
        Some(function) => println!("{}", entry.line(function, Timestamp::now())),
        None => {
            let AccessLogEntry { request_id, method, route, status, took, .. } = entry;
            let status = status.as_u16();
            tracing::info!(request_id, method, route, status, ?took, "request");
        }
    }
}

impl AccessLogEntry {
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
            "method": method,
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
    fn the_last_four_digits_are_starred() {
        assert_eq!(masked("+13052345678"), "+1305234****");
        assert_eq!(masked("+49112"), "+4****");
        assert_eq!(masked("+112"), "+***");
        assert_eq!(masked("+"), "+");
    }

    #[test]
    fn a_number_made_of_letters_is_not_told() {
        let mut facts = Facts::default();
        facts.set_phone_number("+49 30 1234 home", "3012344663", "+493012344663");
        assert_eq!(facts.phone_number, None);
        facts.set_phone_number("+49 (0) 30 1234", "301234", "+49301234");
        assert_eq!(facts.phone_number.as_deref(), Some("+4930****"));
    }

    #[test]
    fn a_method_of_the_clients_own_making_is_not_repeated() {
        assert_eq!(name_of(&Method::DELETE), "DELETE");
        assert_eq!(name_of(&Method::from_bytes(b"CALL3052345678").unwrap()), "other");
    }

    #[test]
    fn the_line_holds_every_metric_it_names() {
        let mut facts = Facts { consumed_capacity: 0.5, cache_hits: 1, ..Facts::default() };
        facts.set_phone_number("305-234-5678", "3052345678", "+13052345678");
        let entry = AccessLogEntry {
            request_id: "abc".to_owned(),
            method: "GET",
            route: "/v1/format/{*tn}".to_owned(),
            status: StatusCode::SERVICE_UNAVAILABLE,
            took: Duration::from_millis(3),
            cold_start: true,
            facts,
        };
        let line = entry.line("stack-format", Timestamp::UNIX_EPOCH);
        let metrics = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array().unwrap();
        assert!(metrics.iter().all(|metric| line[metric["Name"].as_str().unwrap()].is_number()));
        assert_eq!((&line["ServerErrors"], &line["Latency"]), (&json!(1.0), &json!(3.0)));
        assert_eq!((&line["level"], &line["tn"]), (&json!("ERROR"), &json!("+1305234****")));
        assert_eq!(line["cold_start"], true);
    }
}
