//! W3C trace context and spans, encoded as [OTLP in JSON].
//!
//! A request's trace is task-local: [`in_trace`] sets it, and [`start_span`] adds to it. Without a trace, a span costs
//! one task-local lookup. The only client text in a span is a trace id and a span id.
//!
//! [OTLP in JSON]: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding

mod buffer;
mod trace_context;
mod traces;

use std::time::SystemTime;

pub use buffer::Buffer;
use serde_json::{Value, json};
pub use trace_context::TraceContext;
pub use traces::{RequestTrace, Span, SpanKind, current, in_trace, start_span};

/// An attribute in OTLP's JSON, which encodes integers as strings.
pub fn attribute(name: &str, value: impl Into<Value>) -> Value {
    let value = match value.into() {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        text => json!({ "stringValue": text }),
    };
    json!({ "key": name, "value": value })
}

/// Unix time in nanoseconds, as encoded in OTLP's JSON.
fn unix_nanos(time: SystemTime) -> String {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}
