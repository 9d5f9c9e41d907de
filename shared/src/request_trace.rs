//! Reads a request's trace from its headers, and adds it to the response.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, header::HeaderName},
};
use lambda_http::RequestExt;
use otlp::{RequestTrace, TraceContext};

use crate::{export::Exporter, http::single_value};

/// The caller's span in requests, and this service's in responses.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: &str = "tracestate";
/// The length that services must pass on. Longer values are dropped.
const MAX_TRACESTATE_LENGTH: usize = 512;

/// The trace that a request continues or, if spans are exported, starts.
pub(crate) fn request_trace(request: &Request, exporter: &Exporter) -> Option<Arc<RequestTrace>> {
    let headers = request.headers();
    let caller = single_value(headers, &TRACEPARENT).and_then(TraceContext::parse);
    let state = caller.and_then(|_| trace_state(headers));
    if !exporter.is_enabled() {
        return Some(Arc::new(RequestTrace::propagated(caller?, state)));
    }
    let xray = || request.lambda_context_ref()?.xray_trace_id.as_deref();
    let caller = caller.or_else(|| TraceContext::parse_xray(xray()?));
    Some(Arc::new(RequestTrace::with_span(caller, state, &exporter.buffer)))
}

/// Adds the trace to the response, so that clients that did not send one can refer to it.
pub(crate) fn set_traceparent(headers: &mut HeaderMap, trace: Option<&Arc<RequestTrace>>) {
    if let Some(trace) = trace
        && let Ok(value) = HeaderValue::try_from(trace.context.to_string())
    {
        headers.insert(TRACEPARENT, value);
    }
}

/// The vendors' part of the trace, which may be in several header lines.
fn trace_state(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(TRACESTATE).iter().map(|line| line.to_str());
    let state = lines.collect::<Result<Vec<_>, _>>().ok()?.join(",");
    (!state.is_empty() && state.len() <= MAX_TRACESTATE_LENGTH).then_some(state)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use lambda_http::Context;

    use super::*;

    const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const XRAY: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";

    #[test]
    fn the_caller_comes_from_traceparent_or_when_exporting_from_the_xray_header() {
        let url = |name: &str| name.ends_with("_ENDPOINT").then(|| "http://a.example".to_owned());
        let (exporting, other) = (Exporter::new(None, url), Exporter::default());
        let (caller, xray) =
            (Some("4bf92f3577b34da6a3ce929d0e0e4736"), Some("5759e988bd862e3fe1be46a994272793"));
        for (exporter, headers, xray_header, expected) in [
            (&other, &[CALLER][..], None, caller),
            (&other, &[CALLER, CALLER], None, None),
            (&other, &[], Some(XRAY), None),
            (&exporting, &[CALLER], Some(XRAY), caller),
            (&exporting, &[], Some(XRAY), xray),
        ] {
            let mut request = Request::new(Body::empty());
            for header in headers {
                request.headers_mut().append(TRACEPARENT, HeaderValue::from_static(header));
            }
            let mut context = Context::default();
            context.xray_trace_id = xray_header.map(str::to_owned);
            request.extensions_mut().insert(context);
            let trace = request_trace(&request, exporter).map(|it| it.context.trace_id_hex());
            assert_eq!(trace.as_deref(), expected, "{headers:?} {xray_header:?}");
        }
        for (flags, is_recorded) in [("-01", true), ("-00", false)] {
            let request = Request::builder().header(TRACEPARENT, CALLER.replace("-01", flags));
            let trace = request_trace(&request.body(Body::empty()).unwrap(), &exporting).unwrap();
            assert_eq!(trace.request_span().is_some(), is_recorded, "{flags}");
        }
    }

    #[test]
    fn trace_state_is_joined_and_dropped_if_it_is_too_long() {
        let long = "a".repeat(MAX_TRACESTATE_LENGTH);
        for (lines, expected) in [
            (&["a=1", "b=2,c=3"][..], Some("a=1,b=2,c=3")),
            (&[&*long], Some(&*long)),
            (&[&*long, "b"], None),
            (&["\u{e9}"], None),
            (&[], None),
        ] {
            let value = |line: &&str| HeaderValue::from_bytes(line.as_bytes()).unwrap();
            let name = HeaderName::from_static(TRACESTATE);
            let headers = lines.iter().map(|line| (name.clone(), value(line))).collect();
            assert_eq!(trace_state(&headers).as_deref(), expected, "{lines:?}");
        }
    }
}
