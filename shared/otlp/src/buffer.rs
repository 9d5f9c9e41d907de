//! Spans and metrics that are not exported yet.

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    MeasuredRequest, Temporality, attribute,
    metrics::{Metrics, metrics_json},
};

/// The maximum number of spans to hold, as in the OpenTelemetry SDKs. Further spans are dropped.
const MAX_SPANS: usize = 2048;
/// The number of spans that are exported without waiting for the next time.
const BATCH: usize = 512;

/// The attributes of this process.
#[derive(Debug)]
pub struct Resource(Vec<Value>);

impl Resource {
    /// Creates a resource. Of several values for a name, the first is used.
    pub fn new<'a>(attributes: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let mut unique = Vec::new();
        for (name, value) in attributes {
            let attribute = attribute(name, value);
            if !unique.iter().any(|other: &Value| other["key"] == name) {
                unique.push(attribute);
            }
        }
        Self(unique)
    }
}

/// Finished spans, and totals of requests.
#[derive(Debug)]
pub struct Buffer {
    resource: Resource,
    spans: Mutex<Vec<String>>,
    metrics: Mutex<Metrics>,
    has_batch: Notify,
}

impl Buffer {
    pub fn new(resource: Resource) -> Self {
        let (spans, metrics, has_batch) = (Mutex::default(), Mutex::default(), Notify::new());
        Self { resource, spans, metrics, has_batch }
    }

    /// Adds a span unless the buffer is full.
    pub(crate) fn push(&self, span: impl FnOnce() -> String) {
        if self.spans.lock().len() >= MAX_SPANS {
            return;
        }
        let span = span();
        let mut spans = self.spans.lock();
        spans.push(span);
        if spans.len() == BATCH {
            self.has_batch.notify_one();
        }
    }

    /// Completes when many spans are waiting.
    pub async fn has_batch(&self) {
        self.has_batch.notified().await;
    }

    /// Adds a request to the metrics.
    pub fn measure(&self, request: &MeasuredRequest) {
        self.metrics.lock().add(request);
    }

    /// Removes the finished spans, and returns them as an OTLP request; `None` without spans.
    pub fn take_spans(&self) -> Option<String> {
        let spans = std::mem::take(&mut *self.spans.lock());
        if spans.is_empty() {
            return None;
        }
        let (resource, scope) = (self.resource(), scope());
        Some(format!(
            r#"{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":[{}]}}]}}]}}"#,
            spans.join(",")
        ))
    }

    /// Returns the metrics as an OTLP request; `None` without requests.
    pub fn take_metrics(&self, temporality: Temporality) -> Option<String> {
        let metrics = self.metrics.lock().take(temporality)?;
        let metrics = metrics_json(&metrics, temporality);
        let scope = json!([{ "scope": scope(), "metrics": metrics }]);
        let resource = json!([{ "resource": self.resource(), "scopeMetrics": scope }]);
        Some(json!({ "resourceMetrics": resource }).to_string())
    }

    fn resource(&self) -> Value {
        json!({ "attributes": self.resource.0 })
    }
}

fn scope() -> Value {
    json!({ "name": "telephone-number-reference", "version": env!("CARGO_PKG_VERSION") })
}
