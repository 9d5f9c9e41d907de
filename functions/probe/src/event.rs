//! What starts the probe.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What starts the probe.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// CodeDeploy, which waits for what the probe reports.
    Deployment(Deployment),
    /// The schedule or an operator.
    Request(Request),
}

/// The hook of a deployment, as
/// [CodeDeploy](https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html)
/// hands it to a function.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Deployment {
    pub deployment_id: String,
    pub lifecycle_event_hook_execution_id: String,
}

/// What to check beside the functions.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The address of the API, such as `https://abcdef1234.execute-api.us-east-1.amazonaws.com`. If it is
    /// left out, only the functions are asked.
    pub base_url: Option<String>,
}

/// Why an event cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error(
        "the request must be a JSON object, such as {{\"base_url\": \"https://api.example.com\"}}"
    )]
    NoObject,
    #[error("the event of CodeDeploy cannot be read")]
    Deployment(#[source] serde_json::Error),
    #[error("the request cannot be read")]
    Request(#[source] serde_json::Error),
}

/// A field that every event of CodeDeploy has, and no request.
const DEPLOYMENT_ID: &str = "DeploymentId";

impl Event {
    /// Reads the payload of an invocation. No payload counts as a request without fields.
    pub fn parse(payload: Value) -> Result<Self, EventError> {
        let fields = match payload {
            Value::Null => Map::new(),
            Value::Object(fields) => fields,
            _ => return Err(EventError::NoObject),
        };
        let is_deployment = fields.contains_key(DEPLOYMENT_ID);
        let fields = Value::Object(fields);
        if is_deployment {
            let deployment = serde_json::from_value(fields).map_err(EventError::Deployment)?;
            return Ok(Self::Deployment(deployment));
        }
        serde_json::from_value(fields).map(Self::Request).map_err(EventError::Request)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_of_codedeploy_is_told_from_a_request() {
        let hook = json!({ "DeploymentId": "d-1", "LifecycleEventHookExecutionId": "eyJ" });
        let deployment = Deployment {
            deployment_id: "d-1".to_owned(),
            lifecycle_event_hook_execution_id: "eyJ".to_owned(),
        };
        assert_eq!(Event::parse(hook).unwrap(), Event::Deployment(deployment));
        for payload in [Value::Null, json!({})] {
            assert_eq!(Event::parse(payload).unwrap(), Event::Request(Request::default()));
        }
        let with_address = json!({ "base_url": "https://api.example.com" });
        let request = Request { base_url: Some("https://api.example.com".to_owned()) };
        assert_eq!(Event::parse(with_address).unwrap(), Event::Request(request));
    }

    #[test]
    fn a_misspelt_field_and_a_payload_that_is_no_object_are_refused() {
        assert!(Event::parse(json!({ "baseUrl": "https://api.example.com" })).is_err());
        assert!(Event::parse(json!([])).is_err());
        assert!(Event::parse(json!({ "DeploymentId": "d-1" })).is_err());
    }
}
