//! Spans that are not exported yet.

use std::mem;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The maximum number of spans to hold, as in the OpenTelemetry SDKs. Further spans are dropped.
const MAX_SPANS: usize = 2048;
/// The number of waiting spans that triggers an early export.
const BATCH_SIZE: usize = 512;

/// Finished spans.
#[derive(Debug, Default)]
pub struct Buffer {
    /// The attributes of this process.
    resource: Vec<Value>,
    spans: Mutex<Vec<String>>,
    batch_ready: Notify,
}

impl Buffer {
    pub fn new(resource: Vec<Value>) -> Self {
        Self { resource, ..Self::default() }
    }

    /// Adds a span unless the buffer is full.
    pub(crate) fn push(&self, span: impl FnOnce() -> String) {
        if self.spans.lock().len() >= MAX_SPANS {
            return;
        }
        let span = span();
        let mut spans = self.spans.lock();
        spans.push(span);
        if spans.len() == BATCH_SIZE {
            self.batch_ready.notify_one();
        }
    }

    /// Waits until a full batch of spans is ready.
    pub async fn wait_for_batch(&self) {
        self.batch_ready.notified().await;
    }

    /// Removes the finished spans, and returns them as an OTLP request; `None` if the buffer is empty.
    pub fn take_spans(&self) -> Option<String> {
        let spans = mem::take(&mut *self.spans.lock());
        if spans.is_empty() {
            return None;
        }
        let resource = json!({ "attributes": self.resource });
        let scope =
            json!({ "name": "telephone-number-reference", "version": env!("CARGO_PKG_VERSION") });
        Some(format!(
            r#"{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":[{}]}}]}}]}}"#,
            spans.join(",")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_beyond_the_limit_are_dropped_until_the_next_export() {
        let buffer = Buffer::default();
        assert_eq!(buffer.take_spans(), None);
        (0..=MAX_SPANS).for_each(|number| buffer.push(|| number.to_string()));
        let exported: Value = serde_json::from_str(&buffer.take_spans().unwrap()).unwrap();
        let spans = exported["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        assert_eq!((spans.len(), &spans[0]), (MAX_SPANS, &json!(0)));
        buffer.push(|| "1".to_owned());
        assert!(buffer.take_spans().is_some());
    }
}
