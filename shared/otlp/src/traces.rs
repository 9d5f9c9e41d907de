//! A request's trace and its spans.

use std::{sync::Arc, time::SystemTime};

use serde_json::{Value, json};

use crate::{Buffer, TraceContext, attribute, unix_nanos};

tokio::task_local! {
    static CURRENT: Option<Arc<RequestTrace>>;
}

/// A request's trace.
#[derive(Debug)]
pub struct RequestTrace {
    /// The request's span; the caller's if nothing is recorded.
    pub context: TraceContext,
    /// The caller's span.
    parent: Option<u64>,
    /// The caller's `tracestate`. It is propagated, but not in logs and spans, since it may be any text.
    pub state: Option<String>,
    /// `None` if the trace is not recorded.
    buffer: Option<Arc<Buffer>>,
}

impl RequestTrace {
    /// Propagates a trace without recording a span.
    pub fn propagated(context: TraceContext, state: Option<String>) -> Self {
        Self { context, parent: None, state, buffer: None }
    }

    /// Continues the caller's trace, or starts one, with a span for this request. Records it in `buffer` unless the
    /// caller chose not to.
    pub fn with_span(
        caller: Option<TraceContext>,
        state: Option<String>,
        buffer: &Arc<Buffer>,
    ) -> Self {
        let trace = caller.unwrap_or_else(TraceContext::random);
        let buffer = trace.is_sampled().then(|| Arc::clone(buffer));
        let parent = caller.map(|caller| caller.span_id);
        Self { context: trace.child(), parent, state, buffer }
    }

    /// Starts the request's own span; `None` if the trace is not recorded.
    pub fn request_span(self: &Arc<Self>) -> Option<Span> {
        let mut span = self.start_span(SpanKind::Server)?;
        (span.context, span.parent) = (self.context, self.parent);
        Some(span)
    }

    /// Starts a span inside the request; `None` if the trace is not recorded.
    pub fn start_span(self: &Arc<Self>, kind: SpanKind) -> Option<Span> {
        Some(Span {
            buffer: Arc::clone(self.buffer.as_ref()?),
            context: self.context.child(),
            parent: Some(self.context.span_id),
            name: String::new(),
            kind,
            started: SystemTime::now(),
            attributes: Vec::new(),
            error: None,
        })
    }
}

/// Runs a request in a trace.
pub async fn in_trace<T>(trace: Option<Arc<RequestTrace>>, request: impl Future<Output = T>) -> T {
    CURRENT.scope(trace, request).await
}

/// The current request's trace, if any.
pub fn current() -> Option<Arc<RequestTrace>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

/// Starts a span inside the current request; `None` if its trace is not recorded.
pub fn start_span(name: &str) -> Option<Span> {
    let mut span = current()?.start_span(SpanKind::Internal)?;
    span.name = name.to_owned();
    Some(span)
}

/// The kinds of span that this service has, with their OTLP numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// A span, recorded when dropped.
#[derive(Debug)]
pub struct Span {
    buffer: Arc<Buffer>,
    context: TraceContext,
    parent: Option<u64>,
    pub name: String,
    kind: SpanKind,
    started: SystemTime,
    attributes: Vec<Value>,
    /// The kind of failure, if any.
    pub error: Option<String>,
}

impl Span {
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.attributes.push(attribute(name, value));
    }

    /// The position for services that this span calls.
    pub fn context(&self) -> TraceContext {
        self.context
    }

    fn to_json(&self) -> Value {
        let mut span = json!({
            "traceId": self.context.trace_id_hex(),
            "spanId": format!("{:016x}", self.context.span_id),
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": unix_nanos(self.started),
            "endTimeUnixNano": unix_nanos(SystemTime::now()),
            "attributes": self.attributes,
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = format!("{parent:016x}").into();
        }
        if let Some(error) = &self.error {
            span["status"] = json!({ "code": 2 });
            let attributes = span["attributes"].as_array_mut();
            attributes.into_iter().for_each(|it| it.push(attribute("error.type", error.as_str())));
        }
        span
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.buffer.push(|| self.to_json().to_string());
    }
}
