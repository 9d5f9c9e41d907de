//! The events that start the probe.

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// CodeDeploy waits for the probe's report.
    Deployment(Deployment),
    Request(Request),
}

/// The event from a CodeDeploy [deployment
/// hook](https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html).
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Deployment {
    pub deployment_id: String,
    pub lifecycle_event_hook_execution_id: String,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The API's URL. If missing, only the functions are checked.
    pub base_url: Option<String>,
}

const UNKNOWN_EVENT: &str = "the request must be a JSON object with no field other than base_url, such as \
     {\"base_url\": \"https://api.example.com\"}";

impl Event {
    /// Parses an invocation's payload. A missing payload counts as a request without fields.
    pub fn parse(payload: Value) -> Result<Self, &'static str> {
        let payload = if payload.is_null() { json!({}) } else { payload };
        if !payload.is_object() {
            return Err(UNKNOWN_EVENT);
        }
        serde_json::from_value(payload).map_err(|_| UNKNOWN_EVENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_requests_are_distinguished_and_unknown_fields_are_rejected() {
        let hook = json!({ "DeploymentId": "d-1", "LifecycleEventHookExecutionId": "eyJ" });
        assert!(matches!(Event::parse(hook).unwrap(), Event::Deployment(_)));
        for payload in [Value::Null, json!({})] {
            assert_eq!(Event::parse(payload).unwrap(), Event::Request(Request::default()));
        }
        let base_url = Some("https://api.example.com".to_owned());
        let request = json!({ "base_url": base_url });
        assert_eq!(Event::parse(request).unwrap(), Event::Request(Request { base_url }));
        for invalid in [json!({ "baseUrl": "x" }), json!([]), json!({ "DeploymentId": "d-1" })] {
            assert!(Event::parse(invalid.clone()).is_err(), "{invalid}");
        }
    }
}
