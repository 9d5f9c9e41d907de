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

const INVALID_MESSAGE: &str = "The body must be one message of JSON-RPC 2.0";

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
            ..Refused::new(StatusCode::BAD_REQUEST, format!("{INVALID_MESSAGE}; {fault}"))
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
    fn other_bodies_get_an_error_with_the_message_id() {
        let deep = "[".repeat(20_000);
        for (body, code, id, fault) in [
            ("", -32700, json!(null), "must be JSON"),
            ("{", -32700, json!(null), "must be JSON"),
            ("\u{feff}{}", -32700, json!(null), "must be JSON"),
            ("{\"a\":1} x", -32700, json!(null), "must be JSON"),
            (&*deep, -32700, json!(null), "must be JSON"),
            (
                r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#,
                -32700,
                json!(null),
                "number out of",
            ),
            ("7", -32600, json!(null), "an object"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, json!(null), "batches"),
            (r#"{"id":7,"method":"ping"}"#, -32600, json!(7), "its jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null), "its id"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null), "its id"),
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"x"}"#,
                -32600,
                json!(null),
                "its id",
            ),
            (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32600, json!(null), "its id"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"x","params":["x"]}"#,
                -32600,
                json!(1),
                "its params",
            ),
            (r#"{"jsonrpc":"2.0","id":"x"}"#, -32600, json!("x"), "a method"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600, json!(1), "a method"),
        ] {
            let refused = read(body.as_bytes()).unwrap_err();
            assert_eq!((refused.code.0, refused.id), (code, id), "{body}");
            assert!(refused.message.contains(fault), "{body}: {}", refused.message);
        }
    }
}
