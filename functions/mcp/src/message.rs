//! JSON-RPC messages, and errors for requests without a valid one.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value, json};

#[derive(Debug, PartialEq)]
pub struct MessageError {
    status: StatusCode,
    /// The message's ID; null if it cannot be read.
    id: Value,
    code: ErrorCode,
    message: String,
}

const INVALID_MESSAGE: &str = "The body must be one JSON-RPC 2.0 message: an object with jsonrpc '2.0', a method, and \
                               optionally params as an object and an id that is a string or a 64-bit integer";

impl MessageError {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, id: Value::Null, code: ErrorCode::INVALID_REQUEST, message }
    }
}

pub fn read(body: &[u8]) -> Result<Value, MessageError> {
    let message: Value = serde_json::from_slice(body).map_err(|error| MessageError {
        code: ErrorCode::PARSE_ERROR,
        ..MessageError::new(StatusCode::BAD_REQUEST, format!("The body must be JSON: {error}"))
    })?;
    if is_client_message(&message) {
        return Ok(message);
    }
    Err(MessageError {
        id: if has_valid_id(&message) { message["id"].clone() } else { Value::Null },
        ..MessageError::new(StatusCode::BAD_REQUEST, INVALID_MESSAGE)
    })
}

fn is_client_message(message: &Value) -> bool {
    message["jsonrpc"] == "2.0"
        && (message.get("id").is_none() || has_valid_id(message))
        && message.get("params").is_none_or(Value::is_object)
        && serde_json::from_value::<ClientJsonRpcMessage>(message.clone()).is_ok()
}

fn has_valid_id(message: &Value) -> bool {
    message.get("id").is_some_and(|id| id.is_string() || id.is_i64())
}

impl IntoResponse for MessageError {
    fn into_response(self) -> Response {
        let Self { status, id, code, message } = self;
        let error = json!({ "code": code.0, "message": message });
        (status, Json(json!({ "jsonrpc": "2.0", "id": id, "error": error }))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error's code and ID; `None` for a message.
    fn error(body: &str) -> Option<(ErrorCode, Value)> {
        read(body.as_bytes()).err().map(|error| (error.code, error.id))
    }

    #[test]
    fn invalid_messages_get_an_error_with_their_id() {
        let deep = "[".repeat(20_000);
        let parse_error = Some((ErrorCode::PARSE_ERROR, Value::Null));
        let invalid = |id| Some((ErrorCode::INVALID_REQUEST, id));
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":"a","method":"no/such","params":{"a":[1]}}"#, None),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
            ("", parse_error.clone()),
            ("\u{feff}{}", parse_error.clone()),
            ("{\"a\":1} x", parse_error.clone()),
            (&*deep, parse_error.clone()),
            (r#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#, parse_error),
            ("7", invalid(json!(null))),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, invalid(json!(null))),
            (r#"{"id":7,"method":"ping"}"#, invalid(json!(7))),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, invalid(json!(null))),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, invalid(json!(null))),
            (r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"x"}"#, invalid(json!(null))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":["x"]}"#, invalid(json!(1))),
            (r#"{"jsonrpc":"2.0","id":"x"}"#, invalid(json!("x"))),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, invalid(json!(1))),
        ] {
            assert_eq!(error(body), expected, "{body}");
        }
    }
}
