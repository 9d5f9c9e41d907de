//! The access log: one line per request, from which CloudWatch also extracts metrics.
//!
//! The only text from the client in a line is a request id in a standard random format, and a trace id. A line contains
//! the key's prefix instead of the key, a masked phone number, and the route instead of the path.
//!
//! Programs that collect their own metrics set an [`Observer`]; Lambda functions do not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode},
    response::Response,
};
use jiff::Timestamp;
use logging::{Metric, Unit, metrics_line};
use otlp::{RequestTrace, Span, in_trace};
use rand::distr::{Alphanumeric, SampleString};
use serde_json::json;
use store::Consumption;
use tracing::Instrument;

use crate::{
    export::Exporter,
    gateway::{event_context, is_authorized_by_iam},
    http::single_value,
    public_address::request_scheme,
    request_context::{self, RequestContext},
    request_trace::{request_trace, set_traceparent},
};

/// A request and its outcome, without text from the client.
pub struct CompletedRequest {
    pub method: &'static str,
    /// The route in the router's syntax, or `$default` for an unknown path.
    pub route: String,
    status: StatusCode,
    pub took: Duration,
    cold_start: bool,
    /// `true` if IAM authorized the request, as for the probe.
    is_probe: bool,
    pub consumption: Consumption,
    trace_id: Option<String>,
    context: RequestContext,
}

/// A function called with each request after its response.
pub type Observer = Arc<dyn Fn(&CompletedRequest) + Send + Sync>;

/// Calls `respond`, sets the request id and the trace on the response, notifies the observer, and writes the access log
/// line of the Lambda function or server.
pub(crate) async fn observe<R: Future<Output = Response>>(
    observer: Option<&Observer>,
    exporter: &Exporter,
    function: Option<&str>,
    request: Request,
    respond: impl FnOnce(Request) -> R,
) -> Response {
    static WARM: AtomicBool = AtomicBool::new(false);
    let started = Instant::now();
    let request_id = request_id(&request);
    let method = method_name(request.method());
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or(UNKNOWN_PATH, MatchedPath::as_str).to_owned();
    let is_probe = is_authorized_by_iam(&request);
    let trace = request_trace(&request, exporter);
    let request_span = trace.as_ref().and_then(RequestTrace::request_span);
    let request_span =
        request_span.map(|span| (span, request_scheme(request.headers(), request.extensions())));
    // An error span, so that log lines at every level include the request id.
    let span = tracing::error_span!("request", request_id);
    // Boxed, because each wrapper would otherwise move the whole future.
    let scope = request_context::scope(request_id, Box::pin(respond(request)));
    let measured = store::measure_reads(in_trace(trace.clone(), scope));
    let ((mut response, context), consumption) = measured.instrument(span).await;
    if let Ok(id) = HeaderValue::try_from(&context.request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    set_traceparent(response.headers_mut(), trace.as_ref());
    let completed = CompletedRequest {
        method,
        route,
        status: response.status(),
        took: started.elapsed(),
        cold_start: !WARM.swap(true, Ordering::Relaxed),
        is_probe,
        consumption,
        trace_id: trace.map(|trace| trace.context.trace_id_hex()),
        context,
    };
    if let Some((span, scheme)) = request_span {
        completed.describe(span, scheme);
    }
    if let Some(observer) = observer {
        observer(&completed);
    }
    completed.write(function);
    response
}

/// The route of an unknown path.
const UNKNOWN_PATH: &str = "$default";

/// The name of a standard method, or `other`, because clients can invent methods.
fn method_name(method: &Method) -> &'static str {
    const STANDARD: [&str; 9] =
        ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"];
    STANDARD.into_iter().find(|standard| *standard == method.as_str()).unwrap_or("other")
}

impl CompletedRequest {
    /// The status of the response, or of a server error inside it.
    pub fn outcome(&self) -> StatusCode {
        self.context.failed_within.unwrap_or(self.status)
    }

    /// Describes the request's span, by the [semantic conventions]. The span's path is the route, since paths and
    /// queries contain phone numbers and keys.
    ///
    /// [semantic conventions]: https://opentelemetry.io/docs/specs/semconv/http/
    fn describe(&self, mut span: Span, scheme: &str) {
        // The conventions' name for an invented method.
        let method = if self.method == "other" { "_OTHER" } else { self.method };
        let route = Some(&*self.route).filter(|route| *route != UNKNOWN_PATH);
        let outcome = self.outcome();
        span.name = route.map_or(method.to_owned(), |route| format!("{method} {route}"));
        span.set("http.request.method", method);
        span.set("url.scheme", scheme);
        span.set("http.response.status_code", outcome.as_u16());
        span.set("tnr.request_id", &*self.context.request_id);
        if let Some(route) = route {
            span.set("http.route", route);
            span.set("url.path", route);
        }
        span.error = outcome.is_server_error().then(|| outcome.as_u16().to_string());
    }

    /// Writes the line. In a Lambda function, it is in CloudWatch's embedded metric format.
    fn write(self, function: Option<&str>) {
        match function {
            Some(function) => println!("{}", self.line(function, Timestamp::now())),
            None => {
                let Self { method, route, status, took, trace_id, context, .. } = self;
                let request_id = context.request_id;
                let status = status.as_u16();
                let failed_within = context.failed_within.map(|status| status.as_u16());
                tracing::info!(
                    request_id,
                    trace_id,
                    method,
                    route,
                    status,
                    failed_within,
                    ?took,
                    "request"
                );
            }
        }
    }

    /// The line in CloudWatch's embedded metric format.
    fn line(self, function: &str, now: Timestamp) -> String {
        let is_server_error = self.outcome().is_server_error();
        let (status, context) = (self.status, self.context);
        let mut fields = json!({
            "level": if is_server_error { "ERROR" } else { "INFO" },
            "message": "request",
            "request_id": context.request_id,
            "method": self.method,
            "route": self.route,
            "status": status.as_u16(),
            "cold_start": self.cold_start,
            "data_version": context.data_version,
            "key": context.key,
            "tn": context.phone_number,
        });
        if let Some(failed_within) = context.failed_within {
            fields["failed_within"] = failed_within.as_u16().into();
        }
        if let Some(numbers) = context.numbers {
            fields["numbers"] = numbers.into();
        }
        if let Some(trace_id) = self.trace_id {
            fields["trace_id"] = trace_id.into();
        }
        let count = |name, count: u32| Metric::count(name, f64::from(count));
        let milliseconds = self.took.as_secs_f64() * 1000.0;
        let mut metrics = vec![
            count("Requests", 1),
            count("ClientErrors", status.is_client_error().into()),
            // The probe counts its own findings. If it rejects a version, or finds no data yet, that must not
            // trigger the alarms that would roll back the next deployment.
            count("ServerErrors", (is_server_error && !self.is_probe).into()),
            Metric { name: "Latency", unit: Unit::Milliseconds, value: milliseconds },
            count("CacheHits", context.cache_hits),
            count("CacheMisses", context.cache_misses),
            Metric::count("ConsumedCapacity", self.consumption.capacity_units),
        ];
        // CloudWatch charges for every metric that was written during a month.
        if self.consumption.failed_calls > 0 {
            metrics.push(count("FailedDatabaseCalls", self.consumption.failed_calls));
        }
        metrics_line(function, now, fields, &metrics)
    }
}

/// The request id header, in requests and responses.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The number of consecutive digits that may be a phone number. One in eleven random UUIDs has as many.
const PHONE_NUMBER_DIGITS: usize = 10;

/// Returns the client's request id, API Gateway's, or a random one.
fn request_id(request: &Request) -> String {
    let gateway_id = || event_context(request.extensions())?.request_id.clone();
    client_request_id(request.headers())
        .map(str::to_owned)
        .or_else(gateway_id)
        .unwrap_or_else(|| Alphanumeric.sample_string(&mut rand::rng(), 16))
}

/// The client's id, if there is exactly one and it is safe to log.
fn client_request_id(headers: &HeaderMap) -> Option<&str> {
    single_value(headers, &REQUEST_ID).filter(|id| may_be_logged(id))
}

/// Returns `true` for a random id in a standard format. Such an id cannot be an API key or contain a 10-digit
/// phone number.
fn may_be_logged(id: &str) -> bool {
    let has_single_case = !id.contains(|c: char| c.is_ascii_uppercase())
        || !id.contains(|c: char| c.is_ascii_lowercase());
    let digits = id.replace('-', "");
    let mut runs = digits.split(|c: char| !c.is_ascii_digit());
    FORMATS.iter().any(|format| has_format(id, format))
        && has_single_case
        && runs.all(|run| run.len() < PHONE_NUMBER_DIGITS)
}

/// The formats of a UUID (RFC 9562, section 4), a [W3C trace id](https://www.w3.org/TR/trace-context/#trace-id) and a
/// [ULID](https://github.com/ulid/spec). See [`has_format`].
const FORMATS: [&str; 3] = [
    "hhhhhhhh-hhhh-8hhh-bhhh-hhhhhhhhhhhh",
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "7uuuuuuuuuuuuuuuuuuuuuuuuu",
];

/// Compares text with a format: `h` stands for a hexadecimal digit, `8` for a UUID's version, `b` for its variant,
/// `7` for a digit up to seven, and `u` for a base 32 digit in ULIDs.
fn has_format(text: &str, format: &str) -> bool {
    let has_kind = |(c, kind): (char, char)| match kind {
        'h' => c.is_ascii_hexdigit(),
        '8' => matches!(c, '1'..='8'),
        'b' => matches!(c, '8' | '9' | 'a' | 'b' | 'A' | 'B'),
        '7' => matches!(c, '0'..='7'),
        'u' => c.is_ascii_alphanumeric() && !"ILOUilou".contains(c),
        other => c == other,
    };
    text.len() == format.len() && text.chars().zip(format.chars()).all(has_kind)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::body::Body;
    use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequestContext;
    use serde_json::Value;

    use super::*;
    use crate::case_table::rows;

    #[test]
    fn nonstandard_methods_are_logged_as_other() {
        assert_eq!(method_name(&Method::DELETE), "DELETE");
        assert_eq!(method_name(&Method::from_bytes(b"CALL3052345678").unwrap()), "other");
    }

    /// Otherwise the probe would trigger alarms before the first import, and failed tool calls would not.
    #[test]
    fn server_errors_count_even_inside_a_success_except_for_the_probe() {
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        let consumption = |failed_calls| Consumption { capacity_units: 0.5, failed_calls };
        let lines = [
            (unavailable, None, false, consumption(2)),
            (StatusCode::OK, Some(unavailable), false, consumption(0)),
            (StatusCode::OK, Some(unavailable), true, consumption(0)),
        ]
        .map(|(status, failed_within, is_probe, consumption)| {
            let mut context = RequestContext { cache_hits: 1, failed_within, ..Default::default() };
            context.request_id = "abc".to_owned();
            context.numbers = failed_within.map(|_| 1000);
            context.set_phone_number("305-234-5678", "3052345678", "+13052345678");
            let completed = CompletedRequest {
                method: "GET",
                route: "/v1/format/{*tn}".to_owned(),
                status,
                took: Duration::from_millis(3),
                cold_start: true,
                is_probe,
                consumption,
                trace_id: None,
                context,
            };
            let line = completed.line("stack-format", Timestamp::UNIX_EPOCH);
            let mut line: Value = serde_json::from_str(&line).unwrap();
            line.as_object_mut().unwrap().remove("_aws");
            format!("{line:#}\n")
        });
        insta::assert_snapshot!(lines.concat());
    }

    #[test]
    fn only_uuids_trace_ids_and_ulids_without_ten_digits_in_a_row_are_accepted() {
        for [id, expected] in rows(include_str!("request_ids.txt")) {
            assert_eq!(may_be_logged(&id), expected == "yes", "{id}");
        }
    }

    #[test]
    fn requests_without_an_id_use_the_gateways_id() {
        let mut context = ApiGatewayV2httpRequestContext::default();
        context.request_id = Some("gateway".to_owned());
        let request = Request::builder()
            .extension(lambda_http::request::RequestContext::ApiGatewayV2(context))
            .body(Body::empty());
        assert_eq!(self::request_id(&request.unwrap()), "gateway");
    }

    /// Clients quote the id, and operators search the log for it.
    #[tokio::test]
    async fn response_and_log_have_the_same_request_id() {
        const OWN: &str = "0b5e9a3c-7d1f-4e62-9c8a-2f4b6d8e0a1c";
        let logged = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&logged);
        let observer: Observer = Arc::new(move |completed| {
            log.lock().unwrap().push(completed.context.request_id.clone());
        });
        let mut returned = Vec::new();
        for sent in [OWN, "3052345678"] {
            let request = Request::builder().header(REQUEST_ID, sent).body(Body::empty()).unwrap();
            let respond = async |_: Request| Response::new(Body::empty());
            let response =
                observe(Some(&observer), &Exporter::default(), None, request, respond).await;
            returned.push(response.headers()[REQUEST_ID].to_str().unwrap().to_owned());
        }
        assert_eq!(*logged.lock().unwrap(), returned);
        assert_eq!(returned[0], OWN);
        assert_ne!(returned[1], "3052345678");
    }

    #[test]
    fn duplicate_request_ids_are_ignored() {
        const FIRST: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let mut headers = HeaderMap::new();
        assert_eq!(client_request_id(&headers), None);
        headers.append(REQUEST_ID, HeaderValue::from_static(FIRST));
        assert_eq!(client_request_id(&headers), Some(FIRST));
        headers.append(REQUEST_ID, HeaderValue::from_static(FIRST));
        assert_eq!(client_request_id(&headers), None);
    }
}
