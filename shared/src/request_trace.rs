//! A request's place in a distributed trace: from its headers, to its response, and to its span.

use std::{iter, sync::Arc};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header::HeaderName},
};
use lambda_http::RequestExt;
use otlp::{MeasuredRequest, RequestTrace, Span, TraceContext};

use crate::export::Exporter;

/// The caller's span in requests, and this service's in responses.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: &str = "tracestate";
/// The length that services must pass on. Longer values are dropped.
const MAX_STATE: usize = 512;

/// The trace that a request continues or, if spans are exported, starts.
pub(crate) fn request_trace(
    request: &Request,
    exporter: Option<&Exporter>,
) -> Option<Arc<RequestTrace>> {
    let headers = request.headers();
    let caller = single(headers, &TRACEPARENT).and_then(TraceContext::parse);
    let state = caller.and_then(|_| trace_state(headers));
    let trace = match exporter.filter(|exporter| exporter.has_traces()) {
        None => RequestTrace::passed_on(caller?, state),
        Some(Exporter { buffer, sampler, .. }) => {
            let xray = || request.lambda_context_ref()?.xray_trace_id.as_deref();
            let caller = caller.or_else(|| TraceContext::parse_xray(xray()?));
            RequestTrace::with_span(caller, state, *sampler, buffer)
        }
    };
    Some(Arc::new(trace))
}

/// Adds the trace to the response, so that clients that did not send one can name it.
pub(crate) fn set_traceparent(headers: &mut HeaderMap, trace: Option<&Arc<RequestTrace>>) {
    if let Some(trace) = trace
        && let Ok(value) = HeaderValue::try_from(trace.context.to_string())
    {
        headers.insert(TRACEPARENT, value);
    }
}

/// Describes a request's span by the [semantic conventions], but with the route as path, since paths and queries
/// contain phone numbers and keys.
///
/// [semantic conventions]: https://opentelemetry.io/docs/specs/semconv/http/http-spans/
pub(crate) fn describe(span: &mut Span, request: &MeasuredRequest, request_id: &str) {
    let MeasuredRequest { method, scheme, route, status, .. } = request;
    span.name = iter::once(*method).chain(*route).collect::<Vec<_>>().join(" ");
    span.set("http.request.method", *method);
    span.set("url.scheme", *scheme);
    span.set("http.response.status_code", *status);
    span.set("tnr.request_id", request_id);
    if let Some(route) = route {
        span.set("http.route", *route);
        span.set("url.path", *route);
    }
    let is_error = StatusCode::from_u16(*status).is_ok_and(|status| status.is_server_error());
    span.error = is_error.then(|| status.to_string());
}

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// The vendors' part of the trace, which may be in several header lines.
fn trace_state(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(TRACESTATE).iter().map(|line| line.to_str());
    let state = lines.collect::<Result<Vec<_>, _>>().ok()?.join(",");
    (!state.is_empty() && state.len() <= MAX_STATE).then_some(state)
}
