//! JSON-RPC messages, and errors for requests without one.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value, json};

/// The error for a request that has no valid message.
#[derive(Debug, PartialEq)]
pub struct Refused {
    status: StatusCode,
    /// The message's ID, if it can be read.
    id: Value,
    code: ErrorCode,
    message: String,
}

const NOT_A_MESSAGE: &str = "The body must be one message of JSON-RPC 2.0";

impl Refused {
    /// The error for a request without a message.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, id: Value::Null, code: ErrorCode::INVALID_REQUEST, message }
    }
}

/// Parses the body as one client message.
pub fn read(body: &[u8]) -> Result<Value, Refused> {
    let message: Value = serde_json::from_slice(body).map_err(|error| Refused {
        code: ErrorCode::PARSE_ERROR,
        ..Refused::new(StatusCode::BAD_REQUEST, format!("The body must be JSON: {error}"))
    })?;
    match fault_of(&message) {
        None => Ok(message),
        Some(fault) => Err(Refused {
            id: if has_valid_id(&message) { message["id"].clone() } else { Value::Null },
            ..Refused::new(StatusCode::BAD_REQUEST, format!("{NOT_A_MESSAGE}; {fault}"))
        }),
    }
}

/// The reason JSON is not a client message; `None` if it is one.
fn fault_of(message: &Value) -> Option<&'static str> {
    if message.is_array() {
        return Some("batches are not supported");
    }
    if !message.is_object() {
        return Some("it must be an object");
    }
    if message["jsonrpc"] != "2.0" {
        return Some("its jsonrpc must be '2.0'");
    }
    if message.get("id").is_some() && !has_valid_id(message) {
        return Some("its id must be a text or a whole number of at most 64 bits");
    }
    if message.get("params").is_some_and(|params| !params.is_object()) {
        return Some("its params must be an object");
    }
    let is_message = serde_json::from_value::<ClientJsonRpcMessage>(message.clone()).is_ok();
    (!is_message).then_some("it must have a method, or the result or error of a request")
}

fn has_valid_id(message: &Value) -> bool {
    message.get("id").is_some_and(|id| id.is_string() || id.is_i64())
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self { status, id, code, message } = self;
        let error = json!({ "code": code.0, "message": message });
        (status, Json(json!({ "jsonrpc": "2.0", "id": id, "error": error }))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> (i32, Value, String) {
        let Refused { id, code, message, .. } = read(body.as_bytes()).unwrap_err();
        (code.0, id, message)
    }

    #[test]
    fn requests_notifications_and_responses_are_messages() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"no/such","params":{"a":[1]}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(read(body.as_bytes()).is_ok(), "{body}");
        }
    }

    #[test]
    fn invalid_json_is_a_parse_error() {
        for body in ["", "{", "hello", "\u{feff}{}", &"[".repeat(1000), "{\"a\":1} x"] {
            let (code, id, message) = refusal(body);
            assert_eq!((code, id), (-32700, Value::Null), "{body}: {message}");
        }
    }

    #[test]
    fn json_that_is_not_json_rpc_is_an_invalid_request() {
        for (body, fault) in [
            ("[]", "batches"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "batches"),
            ("null", "an object"),
            ("{}", "its jsonrpc"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "its jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "its id"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "its id"),
            (r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#, "its id"),
            (r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#, "number out of range"),
            (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, "its id"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["x"]}"#, "its params"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "a method"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "a method"),
        ] {
            let (_, _, message) = refusal(body);
            assert!(message.contains(fault), "{body}: {message}");
        }
    }

    #[test]
    fn errors_repeat_the_message_id() {
        assert_eq!(refusal(r#"{"id":7,"method":"ping"}"#).1, 7);
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":"x"}"#).1, "x");
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":[1]}"#).1, Value::Null);
    }
}
